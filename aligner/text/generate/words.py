"""Frequent English words and their French translations, from the most to the least frequent.

Entries stand between semicolons: `English = French, French`, the first translation the most usual
one. Forms that do not follow the rules of inflection.py stand beside the word, after slashes:
`country = m pays; animal = m animal/animaux`. Nouns have a gender. `<` marks adjectives that stand
before their noun in French.

What the grammar can not say is avoided: French verbs whose past has `être`, English words whose first
letter misleads (`a union`, `an hour`), French words with an aspirated h.
"""

from __future__ import annotations

PEOPLE = """
minister = m ministre; government = m gouvernement; member = m député, m membre; committee = m comité;
country/countries = m pays; party/parties = m parti; president = m président; woman/women = f femme;
child/children = m enfant; man/men = m homme; company = f entreprise, f société, f compagnie;
citizen = m citoyen; worker = m travailleur, m ouvrier; province = f province; parliament = m parlement;
farmer = m agriculteur; council = m conseil; court = m tribunal/tribunaux, f cour; family = f famille;
leader = m chef, m dirigeant; colleague = m collègue; senator = m sénateur; friend = m ami;
group = m groupe; teacher = m enseignant, m professeur; student = m étudiant, m élève;
doctor = m médecin, m docteur; judge = m juge; expert = m expert, m spécialiste; nation = f nation;
team = f équipe; bank = f banque; city = f ville; school = f école; department = m ministère;
voter = m électeur; neighbour = m voisin; consumer = m consommateur; employee = m employé, m salarié;
chairman/chairmen = m président; speaker = m orateur, m président;
police officer = m agent de police, m policier; soldier = m soldat; lawyer = m avocat, m juriste;
journalist = m journaliste; engineer = m ingénieur; mother = f mère; father = m père; girl = f fille;
boy = m garçon; brother = m frère; sister = f sœur; daughter = f fille; taxpayer = m contribuable;
agency = f agence, m organisme; assembly = f assemblée; army = f armée; mayor = m maire;
candidate = m candidat; manager = m directeur, m gestionnaire; adviser = m conseiller; witness = m témoin;
victim = f victime; owner = m propriétaire; tenant = m locataire; visitor = m visiteur; customer = m client;
merchant = m marchand, m commerçant; secretary = f secrétaire; scientist = m savant; author = m auteur;
artist = m artiste; king = m roi; queen = f reine; nurse = f infirmière;
family doctor = m médecin de famille; bus driver = m conducteur de autobus; investor = m investisseur;
opponent = m adversaire; ally = m allié; refugee = m réfugié; prisoner = m prisonnier; sailor = m marin;
fisherman/fishermen = m pêcheur; baker = m boulanger; bank manager = m directeur de banque;
pilot = m pilote; ambassador = m ambassadeur; reader = m lecteur; guest = m invité;
school teacher = m instituteur; spokesman/spokesmen = m porte-parole/porte-parole; passenger = m passager;
gardener = m jardinier; newspaper reader = m lecteur de journaux; fire chief = m chef de pompiers;
inventor = m inventeur; actor = m acteur, m comédien; cook = m cuisinier; dentist = m dentiste;
cousin = m cousin; uncle = m oncle; aunt = f tante; husband = m mari, m époux;
wife/wives = f femme, f épouse; player = m joueur; singer = m chanteur; dancer = m danseur;
painter = m peintre; poet = m poète; prince = m prince; princess = f princesse; thief/thieves = m voleur;
guard = m gardien, m garde; hunter = m chasseur; enemy = m ennemi; boss = m patron;
partner = m partenaire, m associé; servant = m serviteur; priest = m prêtre; bishop = m évêque;
donor = m donateur; buyer = m acheteur; seller = m vendeur; carpenter = m menuisier; plumber = m plombier;
tailor = m tailleur; butcher = m boucher; postman/postmen = m facteur; librarian = m bibliothécaire;
musician = m musicien; historian = m historien; surgeon = m chirurgien; patient = m patient, m malade;
immigrant = m immigrant; tourist = m touriste; traveller = m voyageur; swimmer = m nageur;
runner = m coureur; champion = m champion; rival = m rival/rivaux; producer = m producteur;
exporter = m exportateur; retailer = m détaillant; banker = m banquier; accountant = m comptable;
clerk = m commis; inspector = m inspecteur; collector = m collectionneur; taxi driver = m chauffeur de taxi;
film director = m cinéaste; police force = f force de police; trade union = m syndicat;
football team = f équipe de football
"""

THINGS = """
report = m rapport; bill = m projet de loi, f facture; question = f question;
problem = m problème, f difficulté; law = f loi, m droit; program = m programme; decision = f décision;
right = m droit; policy = f politique; agreement = m accord, f entente; debate = m débat;
tax = m impôt, f taxe; budget = m budget; issue = f question, m problème, m enjeu; motion = f motion;
proposal = f proposition; change = m changement, f modification; service = m service; market = m marché;
price = m prix; job = m emploi, m poste; plan = m plan, m projet; amendment = m amendement;
reform = f réforme; answer = f réponse; measure = f mesure; letter = f lettre; book = m livre;
word = m mot, f parole; idea = f idée; vote = m vote, m scrutin; study = f étude;
system = m système, m régime; case = m cas, f affaire; result = m résultat; example = m exemple;
contract = m contrat; document = m document; speech = m discours; treaty = m traité; war = f guerre;
project = m projet; principle = m principe; rule = f règle, m règlement; power = m pouvoir, f puissance;
effort = m effort; need = m besoin; interest = m intérêt; role = m rôle; language = f langue, m langage;
cost = m coût; industry = f industrie; economy = f économie; crisis/crises = f crise; debt = f dette;
deficit = m déficit; loan = m prêt; investment = m investissement, m placement;
pension = f pension, f retraite; fund = m fonds; interest rate = m taux de intérêt; figure = m chiffre;
number = m nombre, m numéro; cause = f cause; reason = f raison, m motif; effect = m effet, f conséquence;
meeting = f réunion, f rencontre, f séance; conference = f conférence; election = f élection;
campaign = f campagne; promise = f promesse; position = f position, m poste; opinion = f opinion, m avis;
hope = m espoir; fear = f peur, f crainte; error = f erreur; mistake = f erreur, f faute;
delay = m retard, m délai; risk = m risque; danger = m danger; condition = f condition;
situation = f situation; story = f histoire, m récit; article = m article; newspaper = m journal/journaux;
list = f liste; table = f table, m tableau; house = f maison; door = f porte; window = f fenêtre;
road = f route, m chemin; bridge = m pont; building = m bâtiment, m édifice, m immeuble; garden = m jardin;
tree = m arbre; forest = f forêt; river = f rivière, m fleuve; railway = m chemin de fer;
hospital = m hôpital/hôpitaux; car = f voiture; train = m train; ship = m navire, m bateau; plane = m avion;
machine = f machine; tool = m outil; factory = f usine; farm = f ferme; field = m champ, m domaine;
border = f frontière; region = f région; month = m mois; century = m siècle; winter = m hiver;
night = f nuit; island = f île; coast = f côte; file = m dossier, m fichier; chapter = m chapitre;
standard = f norme, m critère; penalty = f peine, f sanction; crime = m crime; prison = f prison;
weapon = f arme; freedom = f liberté; truth = f vérité; duty = m devoir, f obligation;
goal = m objectif; priority = f priorité; success = m succès, f réussite; failure = m échec;
crop = f récolte; salary = m salaire, m traitement; strike = f grève; skill = f compétence;
culture = f culture; tradition = f tradition; film = m film; song = f chanson; picture = f image, m tableau;
key = f clé; gift = m cadeau, m don; shop = m magasin, f boutique; street = f rue; roof = m toit;
wall = m mur; room = f salle, f pièce, f chambre; kitchen = f cuisine; chair = f chaise; stone = f pierre;
mountain = f montagne; lake = m lac; animal = m animal/animaux; horse = m cheval/chevaux; dog = m chien;
cat = m chat; bird = m oiseau; potato/potatoes = f pomme de terre; apple = f pomme;
peace treaty = m traité de paix; work permit = m permis de travail; threat = f menace;
pension fund = m fonds de pension; town hall = f mairie; press release = m communiqué; income tax = m impôt;
birth rate = m taux de naissance; proof = f preuve; complaint = f plainte; inquiry = f enquête;
request = f demande; bathroom = f salle de bain; kitchen table = f table de cuisine; train station = f gare;
bus stop = m arrêt de autobus; telephone number = m numéro de téléphone;
identity card = f carte de identité; exchange = m échange; ticket = m billet; journey = m voyage, m trajet;
bottle = f bouteille; glass = m verre; knife/knives = m couteau; flower = f fleur; leaf/leaves = f feuille;
star = f étoile; cloud = m nuage; boat = m bateau; hat = m chapeau; shoe = f chaussure; bed = m lit;
lamp = f lampe; clock = f horloge; bell = f cloche; box = f boîte; wedding ring = f alliance;
post office = m bureau de poste; fire station = f caserne; swimming pool = f piscine; airport = m aéroport;
hotel = m hôtel; church = f église; library = f bibliothèque; museum = m musée; theatre = m théâtre;
restaurant = m restaurant; village = m village; square = f place; corner = m coin;
floor = m étage, m plancher; stairway = m escalier; cellar = f cave; desk = m bureau; drawer = m tiroir;
cupboard = m placard, f armoire; mirror = m miroir; carpet = m tapis; curtain = m rideau;
blanket = f couverture; pillow = m oreiller; shirt = f chemise; coat = m manteau; dress = f robe;
skirt = f jupe; pocket = f poche; button = m bouton; needle = f aiguille; scarf/scarves = m foulard;
glove = m gant; umbrella = m parapluie; suitcase = f valise; basket = m panier; spoon = f cuillère;
fork = f fourchette; plate = f assiette; cup = f tasse; pot = f casserole; oven = m four; cake = m gâteau;
egg = m œuf; orange = f orange; carrot = f carotte; onion = m oignon; grape = m raisin; lemon = m citron;
cherry = f cerise; cow = f vache; pig = m cochon, m porc; rabbit = m lapin; duck = m canard;
mouse/mice = f souris; lion = m lion; elephant = m éléphant; monkey = m singe; snake = m serpent;
spider = f araignée; bee = f abeille; wing = f aile; tail = f queue; nest = m nid;
branch = f branche, f succursale; root = f racine; seed = f graine, f semence; hill = f colline;
valley = f vallée; desert = m désert; beach = f plage; wave = f vague, f onde; storm = f tempête, m orage;
shadow = f ombre; circle = m cercle; line = f ligne; angle = m angle; surface = f surface; size = f taille;
weight = m poids; colour = f couleur; sound = m bruit; smell = f odeur; taste = m goût; voice = f voix;
face = m visage; hand = f main; finger = m doigt; arm = m bras; leg = f jambe; foot/feet = m pied;
eye = m œil/yeux; ear = f oreille; mouth = f bouche; tooth/teeth = f dent; heart = m cœur;
brain = m cerveau; disease = f maladie; wound = f blessure; drug = f drogue, m médicament;
accident = m accident; disaster = m désastre, f catastrophe; rescue = m sauvetage; engine = m moteur;
wheel = f roue; rope = f corde; nail = m clou, m ongle; hammer = m marteau; ladder = f échelle;
computer = m ordinateur; screen = m écran; message = m message; network = m réseau; photograph = f photo;
painting = m tableau, f peinture; statue = f statue; poem = m poème; novel = m roman;
dictionary = m dictionnaire; alphabet = m alphabet; sentence = f phrase, f peine; exercise = m exercice;
lesson = f leçon; exam = m examen; prize = m prix; match = m match, f allumette; game = m jeu, f partie;
ball = f balle, m ballon; toy = m jouet; bicycle = f bicyclette, m vélo; lorry = m camion;
tunnel = m tunnel; harbour = m port; lighthouse = m phare; flag = m drapeau; anchor = f ancre;
sword = f épée; shield = m bouclier; castle = m château; palace = m palais
"""

ADJECTIVES = """
important = important; federal = fédéral; great = <grand; public = public/publique; national = national;
good = <bon/bonne; economic = économique; small = <petit; political = politique; social = social;
international = international; clear = clair, net/nette; difficult = difficile; serious = grave, sérieux;
long = <long/longue; possible = possible; recent = récent; young = <jeune; necessary = nécessaire;
special = spécial, particulier; strong = fort, solide; free = libre, gratuit; private = privé;
local = local; legal = légal, juridique; simple = simple; bad = <mauvais; fair = juste, équitable;
large = <grand, vaste; easy = facile; general = général; financial = financier; major = majeur, important;
foreign = étranger; weak = faible; poor = pauvre; rich = riche; responsible = responsable;
dangerous = dangereux; happy = heureux, content; common = commun; reasonable = raisonnable;
careful = prudent; true = vrai; rural = rural; modern = moderne; official = officiel;
commercial = commercial; industrial = industriel; military = militaire; agricultural = agricole;
medical = médical; famous = célèbre; high = élevé, haut; low = faible, bas/basse; quiet = calme, tranquille;
sufficient = suffisant; proud = fier; sad = triste; big = <gros/grosse, <grand; regional = régional;
provincial = provincial; democratic = démocratique; essential = essentiel; urgent = urgent;
effective = efficace; previous = précédent; annual = annuel; complex = complexe; expensive = cher, coûteux;
slow = lent; rapid = rapide; deep = profond; wide = large; cold = froid; warm = chaud; heavy = lourd;
dry = aride; empty = vide; open = ouvert; secret = secret/secrète; brave = courageux; wise = sage;
loyal = loyal; polite = poli; tired = fatigué; busy = occupé; red = rouge; green = vert;
white = blanc/blanche; black = noir; blue = bleu/bleue/bleus/bleues; round = rond; broken = brisé, cassé;
patient = patient; strange = étrange, bizarre; cruel = cruel; yellow = jaune; grey = gris;
soft = doux/douce/doux/douces; hard = dur; sharp = pointu, aigu/aiguë; thick = épais/épaisse;
thin = mince, maigre; narrow = étroit; short = court, bref/brève; tall = grand; fast = rapide;
clean = propre; dirty = sale; safe = sûr; sick = malade; healthy = sain; blind = aveugle; deaf = sourd;
lucky = chanceux; lazy = paresseux; jealous = jaloux/jalouse/jaloux/jalouses; shy = timide;
gentle = gentil/gentille; kind = aimable; rude = grossier; angry = fâché; nervous = nerveux;
curious = curieux; generous = généreux; greedy = avide; clever = intelligent, habile;
stupid = stupide, bête; mad = fou/folle; lonely = solitaire, seul; silent = silencieux; noisy = bruyant;
bright = brillant; dark = sombre; pale = pâle; fresh = frais/fraîche; sweet = sucré; bitter = amer;
salty = salé; raw = cru; ripe = mûr; wet = mouillé; hot = chaud; calm = calme; natural = naturel;
artificial = artificiel; regular = régulier; rare = rare; frequent = fréquent; normal = normal;
perfect = parfait; false = faux/fausse; exact = exact, précis; vague = vague; formal = formel;
moral = moral; temporary = temporaire, provisoire; permanent = permanent; ancient = antique;
religious = religieux; civil = civil; royal = royal; criminal = criminel; nuclear = nucléaire;
electric = électrique; chemical = chimique; solar = solaire; marine = marin; tropical = tropical
"""

ADVERBS = """
clearly = clairement; often = souvent; quickly = rapidement, vite; really = vraiment; openly = ouvertement;
strongly = fortement, vivement; certainly = certainement; finally = finalement, enfin; simply = simplement;
easily = facilement; completely = complètement, entièrement; seriously = sérieusement, gravement;
directly = directement; carefully = soigneusement, prudemment; immediately = immédiatement;
sometimes = parfois; slowly = lentement; publicly = publiquement; officially = officiellement;
firmly = fermement; rarely = rarement; quietly = calmement; gladly = volontiers; freely = librement;
proudly = fièrement; constantly = constamment; patiently = patiemment; deeply = profondément
"""

TRANSITIVE = """
accept = accepter; support = appuyer, soutenir; propose = proposer; see/saw = voir; take/took = prendre;
study = étudier; give/gave = donner; examine = examiner; present = présenter; adopt = adopter;
change = changer, modifier; find/found = trouver; read/read = lire; reject = rejeter, repousser;
know/knew = connaître; want = vouloir; defend = défendre; protect = protéger; help = aider;
use = utiliser, employer; discuss = examiner, aborder; understand/understood = comprendre, saisir;
create = créer; keep/kept = garder, conserver; consider = considérer, étudier;
write/wrote = écrire, rédiger; approve = approuver; improve = améliorer; build/built = construire, bâtir;
receive = recevoir; reduce = réduire, diminuer; show/showed = montrer; pay/paid = payer; lose/lost = perdre;
open = ouvrir; close = fermer; choose/chose = choisir; sell/sold = vendre; buy/bought = acheter;
win/won/winning = gagner; like = aimer; hear/heard = entendre; send/sent = envoyer; prepare = préparer;
finish = finir, terminer; begin/began/beginning = commencer; increase = augmenter; avoid = éviter;
allow = permettre; prevent = empêcher, prévenir; respect = respecter; recommend = recommander;
replace = remplacer; mention = mentionner; quote = citer; publish = publier; sign = signer;
bring/brought = apporter; criticize = critiquer; attack = attaquer; welcome = accueillir;
correct = corriger; control/controlled/controlling = contrôler, maîtriser; obtain = obtenir;
maintain = conserver; guarantee = garantir; limit = limiter; manage = gérer, administrer;
lead/led = diriger, mener; settle = régler; share = partager; watch = regarder, observer; visit = visiter;
threaten = menacer; recognize = reconnaître; destroy = détruire; break/broke = briser, casser;
cut/cut/cutting = couper, réduire; love = aimer; hide/hid = cacher; forget/forgot/forgetting = oublier;
hold/held = tenir; ignore = ignorer; deny = nier; spend/spent = dépenser; save = sauver, épargner;
withdraw/withdrew = retirer; deserve = mériter; translate = traduire; repair = réparer; invite = inviter;
punish = punir; fill = remplir; carry = porter; push = pousser; pull = tirer; eat/ate = manger;
call = appeler; describe = décrire; offer = offrir; cover = couvrir; blame = blâmer; measure = mesurer;
admire = admirer; sing/sang = chanter; wash = laver; clean = nettoyer; burn = brûler;
catch/caught = attraper; steal/stole = voler; count = compter; add = ajouter; divide = diviser;
compare = comparer; mix = mélanger; shake/shook = secouer; bend/bent = plier; turn = tourner;
touch = toucher; press = presser, appuyer; scratch = gratter; kiss = embrasser; teach/taught = enseigner;
test = tester; check = vérifier; mark = marquer; draw/drew = dessiner; copy = copier; print = imprimer;
tear/tore = déchirer; fix = fixer, réparer; delay = retarder; cancel = annuler; postpone = reporter;
finance = financer; organize = organiser; tolerate = tolérer; condemn = condamner; fear = redouter;
doubt = contester; imagine = imaginer; invent = inventer; celebrate = célébrer, fêter; honour = honorer;
cure = guérir; wound = blesser; kill = tuer; feed/fed = nourrir; bury = enterrer; chase = chasser;
rent = louer; borrow = emprunter; lend/lent = prêter; exchange = échanger; import = importer;
export = exporter; produce = produire, fabriquer; develop = développer; restore = restaurer;
preserve = préserver; abandon = abandonner; strengthen = renforcer; weaken = affaiblir;
clarify = clarifier, préciser; simplify = simplifier; confirm = confirmer
"""

INTRANSITIVE = """
work = travailler; speak/spoke = parler; vote = voter; act = agir; wait = attendre; continue = continuer;
live = vivre, habiter; hesitate = hésiter; answer = répondre; react = réagir; insist = insister;
succeed = réussir; listen = écouter; travel = voyager; protest = protester; suffer = souffrir;
negotiate = négocier; think/thought = réfléchir; sleep/slept = dormir; resign = démissionner;
learn = apprendre; walk = marcher; laugh = rire; smile = sourire; disappear = disparaître; play = jouer;
dream = rêver; shout = crier; cooperate = coopérer, collaborer; dance = danser; cry = pleurer;
jump = sauter; swim/swam/swimming = nager; pray = prier; smoke = fumer
"""

SPEECH = """
say/said = dire, affirmer; think/thought = penser; believe = croire; know/knew = savoir; hope = espérer;
explain = expliquer; declare = déclarer; announce = annoncer; understand/understood = comprendre;
add = ajouter; show/showed = montrer; promise = promettre; note = noter, constater;
claim = prétendre, affirmer; recognize = reconnaître; see/saw = voir, constater; repeat = répéter;
admit/admitted/admitting = admettre, avouer; discover = découvrir; forget/forgot/forgetting = oublier;
learn = apprendre; argue = soutenir; observe = observer, remarquer; swear/swore = jurer
"""

SURNAMES = """
Martin Smith Bernard Taylor Lambert Brown Wilson Simon Morgan Adams Clark Garcia Evans Laurent Girard
Jackson Lewis Mercier Murphy Richard Roussel Scott Turner Vincent Walker Young Carter Fournier Owens Bailey
Parker Dumont Rivard Collins Leclerc Foster Gagnon Reed Moreau Stewart Baker Bennett Boucher Caron Cooper
Cox Davies Dubois Durand Fabre Fisher Fraser Gauthier Gibson Graham Grant Harris Hughes Kelly Kennedy Lavoie
Leroux Marchand Mason Meyer Mills Nadeau Nelson Noel Ouellet Palmer Payne Perrin Pierce Poirier Porter
Powell Reynolds Robin Rogers Ross Shaw Spencer Tremblay Wallace Watson Webb
"""
