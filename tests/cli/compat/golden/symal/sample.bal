1
12 À l' ordre dans la tribune , s' il vous plaît !  # 6 1 1 2 3 4 5 6 6 6 6 7
7 Order in the gallery , please !  # 3 4 5 6 7 10 12
1
8 La parole est au député de Peterborough .  # 2 2 3 5 8 4 8 9
9 The hon. member for Peterborough has the floor .  # 1 2 2 5 7 7 6 7 8
1
19 J' invoque le Règlement , madame la Présidente , pour m' opposer aux propos du ministre des Transports .  # 1 1 10 5 6 7 8 8 9 5 3 3 11 11 14 17 15 19 20
20 On a point of order , Madam Speaker , I object to the remarks of the Minister of Transport .  # 1 2 4 7 11 5 6 8 9 12 12 13 3 14 15 0 16 17 18 19
1
8 Franchement , je n' y comprends rien .  # 2 3 1 6 2 5 5 9
9 I frankly do not understand any of it .  # 3 6 1 4 5 6 6 7 8
1
11 Le premier ministre n' a jamais répondu à cette question .  # 1 2 3 6 4 5 6 6 6 8 9
9 The Prime Minister has never answered that question .  # 1 2 3 2 6 7 9 10 11
1
3 Quelle honte !  # 1 1 2
2 Shameful !  # 1 3
1
8 Je le lui ai dit en 1994 .  # 6 1 3 6 2 4 6 7
7 I told him so in 1994 .  # 1 5 3 4 6 7 8
1
15 Les cotisations d' assurance - chômage augmenteront de 12 p. 100 l' an prochain .  # 1 2 3 3 3 5 8 0 7 8 9 4 11 10 12
12 Unemployment insurance premiums will rise by 12 per cent next year .  # 2 2 4 6 6 7 9 10 11 13 14 15
1
10 La Chambre des communes a rejeté la proposition fédérale .  # 2 4 3 5 5 8 6 7 7 9
9 The House of Commons rejected the federal proposal .  # 1 2 3 4 6 7 8 9 10
1
33 Au cours des cinq dernières années , le ministère de la Défense nationale a dépensé plus de 800 millions de dollars pour des hélicoptères qui ne peuvent pas voler par mauvais temps .  # 1 1 1 3 5 4 6 7 8 21 9 8 11 10 13 14 15 17 16 0 16 18 18 23 20 22 25 26 25 26 26 26 27
27 In the past five years , the Department of National Defence has spent more than $ 800 million on helicopters that cannot fly in bad weather .  # 1 20 2 5 6 7 8 9 3 12 13 13 13 15 16 21 24 19 25 29 27 27 27 31 31 32 33
1
3 Plus jamais !  # 1 2 3
3 Never again !  # 1 2 3
1
17 Combien ce projet pilote a - t - il coûté aux contribuables du Nouveau - Brunswick ?  # 1 4 5 6 3 7 12 13 12 9 11 12 11 12 13 12 13
13 How much did this pilot project cost the taxpayers of New Brunswick ?  # 1 1 1 2 4 15 10 7 12 13 14 16 17
1
11 Les municipalités n' ont plus de sable pour leurs routes .  # 1 2 3 5 7 9 8 11 10 10 12
12 The municipalities do not have any sand left for their roads .  # 1 2 2 3 4 7 9 10 8 9 10 11
1
8 On a demandé au ministre de démissionner .  # 6 2 4 3 2 5 4 7
7 The minister was asked to resign .  # 3 1 1 3 4 7 8
1
12 Rien dans ce projet de loi ne protège les petits agriculteurs .  # 1 2 3 4 0 4 5 6 7 6 6 8
8 Nothing in this bill protects small farmers .  # 1 2 3 4 8 10 11 12
1
10 Plusieurs députés de l' arrière - ban : Bravo !  # 6 1 5 1 1 1 2 3 4 7
7 Several backbenchers : Hear , hear !  # 1 5 8 9 7 9 10
1
20 Le budget prévoit 3,2 millions de dollars pour l' aide aux sinistrés des inondations dans le sud du Manitoba .  # 1 3 2 5 4 0 4 6 8 8 8 9 8 9 10 11 12 12 12 13
13 The budget provides $ 3.2 million for flood relief in southern Manitoba .  # 1 2 3 7 4 5 8 10 14 15 17 19 20
1
13 Ce n' est plus un débat , mais une querelle de famille .  # 1 3 2 4 5 6 6 9 10 11 0 12 13
13 This is no longer a debate ; it is a family quarrel .  # 1 3 10 12 5 6 9 1 3 8 10 12 13
1
13 Sur les 1 500 demandes reçues , seulement 640 ont été approuvées .  # 1 1 3 3 5 4 6 7 8 8 9 10 11
11 Of the 1,500 applications received , only 640 were approved .  # 1 2 3 5 4 7 8 6 11 12 13
1
9 Mes électeurs en ont assez des promesses creuses .  # 1 2 2 3 4 4 6 7 8
8 My constituents are tired of empty promises .  # 1 2 5 2 6 7 8 9
1
24 La ministre a - t - elle l' intention de rendre public le texte intégral de l' entente avant les vacances d' été ?  # 3 3 5 1 1 1 4 7 8 0 6 9 11 8 9 10 14 15 16 15 15 13 12 17
17 Does the minister intend to release the full text of the agreement before the summer recess ?  # 5 8 7 9 12 14 4 18 19 22 17 18 15 20 21 21 24
1
7 Certainement pas , madame la Présidente .  # 1 2 3 4 5 5 6
6 Certainly not , Madam Speaker .  # 1 2 3 4 6 7
1
14 Mme Fraser , appuyée par M. Tremblay , propose l' ajournement du débat .  # 1 2 3 4 5 4 7 8 9 11 9 14 12 15
15 Mrs. Fraser , seconded by Mr. Tremblay , moved that the debate be adjourned .  # 1 2 3 4 5 4 6 8 7 9 10 11 12 13 14
1
18 Le Canada n' a pas besoin d' une autre commission royale ; il lui faut des emplois .  # 1 1 2 4 3 4 5 7 7 10 11 8 2 6 7 9 10 12
12 Canada does not need another royal commission ; it needs jobs .  # 15 2 5 6 6 9 10 8 11 11 17 18
1
23 On a dit aux producteurs de pommes de terre de l' Île - du - Prince - Édouard qu' ils seraient indemnisés .  # 1 7 8 1 1 9 1 0 2 0 3 4 5 5 5 6 5 6 6 10 12 13 14
14 Potato growers in Prince Edward Island were told that they would be compensated .  # 9 12 12 12 12 12 18 16 19 20 22 22 21 23
1
12 Les collectivités inuites n' ont pas été consultées à ce sujet .  # 3 2 2 3 4 5 6 6 7 8 9 10
10 The Inuit communities were not consulted on this matter .  # 1 2 2 3 6 8 8 10 11 12
1
26 Le secrétaire d' État pourrait - il expliquer pourquoi on a fermé sans préavis 42 bureaux de poste dans les régions rurales de la Saskatchewan ?  # 5 6 7 12 17 18 8 7 9 12 14 15 16 17 3 1 4 1 11 12 10 12 0 13 17 18
18 Could the Secretary of State explain why 42 post offices in rural Saskatchewan were closed without notice ?  # 2 3 4 24 5 9 10 8 15 16 19 21 25 22 12 13 14 26
1
18 Les députés savent que les pêcheurs de Terre - Neuve n' ont plus de morue à pêcher .  # 1 2 2 4 5 3 0 3 5 7 8 10 9 6 12 12 14 15
15 Hon. members know that Newfoundland 's fishermen no longer have any cod to catch .  # 1 2 3 4 6 8 8 8 8 12 10 15 15 17 18
1
16 La Colombie - Britannique exporte plus de bois d' œuvre résineux que toute autre province .  # 1 2 1 2 3 4 0 5 6 5 6 7 9 9 10 11
11 British Columbia exports more softwood lumber than any other province .  # 5 4 2 10 11 5 8 13 14 15 16
1
6 Quel gaspillage de fonds publics !  # 6 1 3 5 6 7
7 What a waste of public money !  # 1 2 2 4 4 5 6
1
33 Lorsque les vérificateurs ont enfin ouvert les livres de la société d' État , ils ont découvert que personne n' avait tenu de registre des prêts qu' elle avait consentis depuis 1991 .  # 1 1 1 1 1 1 1 5 8 2 3 4 10 12 13 14 14 15 18 19 17 20 21 23 24 25 26 28 25 26 27 28 29
29 When the auditors finally opened the books of the Crown corporation , they discovered that nobody had kept any record of the loans it had made since 1991 .  # 1 2 1 3 5 7 8 10 12 11 13 14 15 17 18 19 21 24 19 22 25 28 26 26 29 32 31 30 33
1
20 La ministre a - t - elle lu la lettre que je lui ai envoyée le 17 mars 1998 ?  # 1 3 3 6 11 15 14 9 5 6 4 7 9 8 11 10 11 12 12 15
15 Has the minister read the letter I sent her on March 17 , 1998 ?  # 10 2 7 8 9 10 12 15 17 19 18 19 18 19 20
1
12 Soyons francs : cette taxe nuira aux familles à faible revenu .  # 1 4 5 9 7 10 11 12 13 11 12 14
14 Let us be frank : this tax will hurt low - income families .  # 1 2 4 1 3 4 5 6 8 8 8 10 11 12
1
5 Adopté à l' unanimité .  # 1 1 2 2 3
3 Adopted unanimously .  # 4 1 5
1
27 Le projet de loi modifiant le Code criminel a franchi l' étape de la deuxième lecture et a été renvoyé au Comité permanent de la justice .  # 1 2 0 2 4 5 6 7 3 6 4 7 0 15 8 9 11 14 10 13 12 16 17 0 18 19 20
20 The bill to amend the Criminal Code passed second reading and was sent to the Standing Committee on Justice .  # 1 2 5 7 11 8 10 12 15 16 17 20 20 21 25 22 23 23 26 27
1
18 Le coût de la vie augmente plus vite dans les provinces de l' Atlantique que partout ailleurs .  # 1 2 3 3 4 4 5 6 8 9 7 11 13 9 12 12 12 14
14 The cost of living is rising faster in Atlantic Canada than anywhere else .  # 1 2 4 5 6 5 8 9 11 14 7 16 17 18
1
14 Pourquoi n' admet - il pas tout simplement qu' il s' est trompé ?  # 1 2 3 12 2 4 5 8 9 11 6 6 11 12
12 Why does he not simply admit that he made a mistake ?  # 1 1 3 6 7 10 9 8 11 12 13 14
1
16 L' Office national de l' énergie a approuvé le pipeline en moins de trois semaines .  # 3 2 3 0 3 3 2 5 6 7 7 9 10 11 12 13
13 The National Energy Board approved the pipeline in less than three weeks .  # 7 2 3 6 8 9 10 11 12 12 14 15 16
1
12 Les actes valent mieux que les paroles , monsieur le Président .  # 1 1 1 1 4 2 3 6 5 7 8 9
9 Actions speak louder than words , Mr. Speaker .  # 3 2 2 4 7 8 9 11 12
1
15 N' oublions pas que 1,4 million de Canadiens ne savent pas lire ce formulaire .  # 1 2 3 10 6 6 0 1 1 8 9 4 11 12 13
13 We must not forget that 1.4 million Canadians cannot read this form .  # 2 1 3 5 4 5 8 2 6 12 13 14 15
1
10 Le commissaire ne nous a jamais remis ces documents .  # 1 2 5 5 3 3 6 7 4 8
8 The commissioner never gave us those documents .  # 1 2 6 7 8 7 9 10
1
18 Si le gouvernement nous avait écoutés , nous ne ferions pas face à une grève aujourd' hui .  # 1 2 3 9 4 5 8 7 7 10 11 12 13 14 15 15 16 17
17 If the government had listened to us , we would not be facing a strike today .  # 1 2 3 5 6 3 4 7 8 10 11 12 15 16 17 17 18
1
14 Le gouvernement fédéral a versé 5,6 milliards de dollars aux provinces en 2003 .  # 1 3 4 8 4 7 6 8 5 7 10 10 12 13
13 The federal government transferred $ 5.6 billion to the provinces in 2003 .  # 1 2 2 3 9 5 7 10 0 13 12 13 14
1
18 Depuis 1989 , le nombre d' exploitations agricoles familiales est passé de 6 200 à 3 900 .  # 1 2 3 4 5 2 2 5 8 7 10 13 8 14 11 12 12 15
15 Since 1989 , the number of family farms has fallen from 6,200 to 3,900 .  # 1 2 3 4 5 6 5 8 7 9 11 14 16 17 18
1
10 Le Conseil du Trésor se dérobe à ses responsabilités .  # 1 2 3 5 3 5 7 7 7 8
8 The Treasury Board is passing the buck .  # 1 2 4 6 8 7 9 10
1
11 Le vote est reporté à mardi , 18 h 30 .  # 1 2 2 5 4 7 7 6 7 9 10
10 The vote was deferred until 6:30 p.m. on Tuesday .  # 1 2 4 4 4 6 9 10 10 11
1
16 Les femmes ne gagnent encore que 72 cents pour chaque dollar gagné par les hommes .  # 1 2 3 2 5 6 6 6 9 8 8 10 11 10 12 13
13 Women still earn only 72 cents for every dollar earned by men .  # 7 2 4 4 4 8 9 10 11 12 13 15 16
1
11 La réforme du Sénat a fait couler beaucoup d' encre .  # 1 2 3 5 6 8 9 9 10 11 12
12 A good deal of ink has been spilled over Senate reform .  # 1 2 2 3 4 7 8 8 8 8 10 11
1
19 Monsieur le président , le témoin a refusé de répondre , et je ne saurais le lui reprocher .  # 5 1 2 3 4 5 7 8 14 6 9 10 11 12 13 15 17 16 18
18 Mr. Chairman , the witness refused to answer , and I cannot say that I blame him .  # 1 3 4 5 6 6 10 8 11 12 15 15 15 14 13 18 17 19
1
15 Les taux hypothécaires n' ont pas été aussi élevés depuis la récession de 1981 .  # 1 2 2 5 3 4 5 7 7 8 9 10 11 12 13
13 Mortgage rates have not been this high since the recession of 1981 .  # 2 2 5 6 8 9 3 10 11 9 14 12 15
1
21 Je propose que , à l' article 14 , le mot « peut » soit remplacé par « doit » .  # 5 5 3 2 9 15 10 7 7 1 5 6 8 12 13 13 11 14 16 17 18
18 I move that the word " may " be replaced by " shall " in clause 14 .  # 1 2 3 10 7 8 13 12 15 16 17 19 20 19 20 19 20 21
1
20 L' industrie aérospatiale du Québec emploie plus de 38 000 personnes , la plupart dans la région de Montréal .  # 5 4 1 3 1 3 6 7 8 8 9 10 11 11 14 11 16 12 17 18
18 Quebec 's aerospace industry employs more than 38,000 people , most of them in the Montreal area .  # 1 2 2 3 5 6 7 10 11 12 11 13 14 15 16 17 19 20
1
10 Il va sans dire que nous appuierons l' amendement .  # 1 2 3 4 5 6 8 7 10 11
11 It goes without saying that we will support the amendment .  # 1 2 3 4 5 6 9 7 8 9 10
1
18 La vérité ne plaît pas à la députée de Winnipeg ; elle ne lui a jamais plu .  # 4 2 2 9 6 3 8 7 0 7 10 9 13 11 12 12 11 14
14 The lady from Winnipeg does not like the truth ; she never did .  # 1 2 4 8 11 5 2 7 8 10 10 16 17 18
1
11 La France et l' Allemagne ont déjà ratifié la convention .  # 1 1 2 3 3 4 5 6 6 8 9
9 France and Germany have already ratified the convention .  # 8 2 5 6 7 7 9 10 11
1
16 Le gouvernement compte - t - il faire quelque chose au sujet des pluies acides ?  # 3 3 4 1 1 1 4 7 8 8 8 8 8 9 10 11
11 Does the government plan to do something about acid rain ?  # 5 4 3 10 11 14 9 14 14 15 16
1
8 La motion n° 12 est donc irrecevable .  # 1 1 2 3 4 5 6 9
9 Motion No. 12 is therefore out of order .  # 3 2 4 5 6 6 7 7 8
1
12 Nos anciens combattants méritent mieux qu' un chèque de 75 $ .  # 1 2 1 2 3 4 6 7 5 7 10 11
11 Our veterans deserve better than a cheque for $ 75 .  # 1 2 4 3 5 7 8 10 8 11 12
1
12 Le Comité permanent des finances déposera son rapport annuel demain matin .  # 1 2 3 5 7 8 11 9 10 11 12 13
13 The Standing Committee on Finance will table its annual report tomorrow morning .  # 1 2 3 3 5 6 8 10 9 9 9 11 12
1
35 Je rappelle à la ministre de l' Agriculture que les producteurs de blé de l' Alberta et de la Saskatchewan ne demandaient pas la charité , mais un prix équitable sur le marché mondial .  # 7 7 3 4 5 6 9 10 8 11 10 23 10 12 28 13 14 19 15 15 16 18 17 27 20 21 22 24 25 25 26 1 29 30 31
31 I would remind the Minister of Agriculture that the wheat farmers of Alberta and Saskatchewan did not ask for charity , but for a fair price on the world market .  # 1 2 2 4 5 24 8 9 15 11 13 19 16 17 20 21 23 22 22 25 26 29 30 27 29 30 31 32 33 34 35
