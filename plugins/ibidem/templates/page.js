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
