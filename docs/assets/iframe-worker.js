// Search on a page that is opened from disk. A browser refuses to start a Worker there, so its script runs in a hidden frame.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      const frame = document.createElement("iframe");
      frame.hidden = true;
      frame.srcdoc = "<body></body>";
      this.ready = new Promise((resolve) => {
        frame.addEventListener("load", () => {
          const inner = frame.contentWindow;
          inner.postMessage = (data) => this.dispatchEvent(new MessageEvent("message", { data }));
          const script = inner.document.createElement("script");
          script.src = url;
          script.addEventListener("load", () => resolve(inner));
          inner.document.body.append(script);
        });
      });
      document.body.append(frame);
    }

    postMessage(data) {
      this.ready.then((inner) => inner.dispatchEvent(new MessageEvent("message", { data })));
    }
  };
}
