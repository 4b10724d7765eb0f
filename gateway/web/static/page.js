// What the pages do besides htmx: keep hands off what somebody is using, and say when we are alone.
(() => {
  "use strict";

  const live = () => document.getElementById("live");
  const lost = (yes) => { document.getElementById("lost").hidden = !yes; };

  // A part of the page is not exchanged under somebody's hands.
  const inUse = () => {
    const part = live();
    if (!part) return false;
    const typing = part.contains(document.activeElement)
      && document.activeElement.matches("input:not([type=hidden]), select, textarea");
    return typing || part.querySelector("details[open]") !== null;
  };

  document.addEventListener("htmx:beforeRequest", (event) => {
    if (event.target.id === "live" && (inUse() || document.hidden)) event.preventDefault();
  });
  document.addEventListener("htmx:sendError", () => lost(true));
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.successful) lost(false);
  });
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) window.location.reload();
    else if (event.detail.xhr.status >= 500) lost(true);
  });

  // What was typed before htmx listened, or came back with the history, is asked about too.
  window.addEventListener("pageshow", () => {
    for (const field of document.querySelectorAll("[hx-trigger^=input] input:not([type=hidden])")) {
      if (field.value !== field.defaultValue) {
        field.dispatchEvent(new Event("input", { bubbles: true }));
      }
    }
  });

  // An open question is closed by Escape, and by opening another one.
  document.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    const open = document.activeElement.closest("details[open]")
      || document.querySelector("details.confirm[open]");
    if (open) {
      open.open = false;
      open.querySelector("summary").focus();
    }
  });
  document.addEventListener("toggle", (event) => {
    if (!event.target.matches("details.confirm[open]")) return;
    for (const other of document.querySelectorAll("details.confirm[open]")) {
      if (other !== event.target) other.open = false;
    }
  }, true);
})();
