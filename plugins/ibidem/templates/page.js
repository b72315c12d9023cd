"use strict";
// Keys for the list. All of it works without this file.
(() => {
  const places = [...document.querySelectorAll(".group")];
  let at = -1;
  const go = (step) => {
    if (!places.length) return;
    at = Math.min(places.length - 1, Math.max(0, at + step));
    places[at].focus();
    places[at].scrollIntoView({ block: "nearest" });
  };
  for (const [number, place] of places.entries()) place.addEventListener("focusin", () => { at = number; });
  const acts = {
    "/": () => { const field = document.getElementById("q"); field?.focus(); field?.select(); },
    j: () => go(1),
    k: () => go(-1),
    o: () => { const copies = places[at]?.querySelector("details"); if (copies) copies.open = !copies.open; },
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in acts)) return;
    event.preventDefault();
    acts[event.key]();
  });
  // Further duplicates are put below those that are there; without this file their link leads to a page of its own.
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.rest");
    const list = link?.closest(".copies")?.querySelector("ol");
    if (!list || event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    try {
      const answer = await fetch(link.href);
      if (!answer.ok) throw new Error(answer.statusText);
      const rest = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("rest");
      const first = rest.querySelector("li");
      list.append(...rest.querySelectorAll("li.duplicate"));
      const next = rest.querySelector("a.rest");
      if (next) link.replaceWith(next);
      else link.closest("p").remove();
      first?.querySelector("a")?.focus();
    } catch {
      window.location.assign(link.href);
    }
  });
  // An empty field says nothing: leave it out of the address.
  for (const form of document.querySelectorAll("form[method=get]")) {
    form.addEventListener("submit", () => {
      for (const field of form.elements) if (field.name && field.name !== "q" && !field.value) field.disabled = true;
    });
  }
  window.addEventListener("pageshow", () => {
    for (const field of document.querySelectorAll("form [disabled]")) field.disabled = false;
  });
})();
