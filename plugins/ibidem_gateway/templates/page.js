"use strict";
// Keys, further duplicates in their place, and opened groups that stay open. All of it works without this file.
(() => {
  const plain = (event) => !(event.button || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey);
  const remember = (name, value) => history.replaceState({ ...history.state, [name]: value }, "");
  const remembered = (name) => (history.state && history.state[name]) || {};

  // Keys.
  const groups = [...document.querySelectorAll(".group")];
  const matches = [...document.querySelectorAll("mark[id], .change[id]")];
  const walk = (places) => {
    let at = -1;
    for (const [number, place] of places.entries()) place.addEventListener("focusin", () => { at = number; });
    return {
      here: () => places[at],
      go: (step) => {
        if (!places.length) return;
        at = Math.min(places.length - 1, Math.max(0, at + step));
        places[at].focus();
        places[at].scrollIntoView({ block: "nearest" });
      },
    };
  };
  const group = walk(groups), match = walk(matches);
  for (const button of document.querySelectorAll("button[data-step]")) {
    button.hidden = false;
    button.addEventListener("click", () => match.go(Number(button.dataset.step)));
  }
  const acts = {
    "/": () => { const field = document.getElementById("q"); field?.focus(); field?.select(); },
    j: () => group.go(1),
    k: () => group.go(-1),
    n: () => match.go(1),
    p: () => match.go(-1),
    o: () => { const copies = group.here()?.querySelector("details"); if (copies) copies.open = !copies.open; },
    Enter: () => document.activeElement.querySelector("a.title").click(),
    Escape: () => { location.hash = "#main"; },
  };
  const may = {
    Enter: () => document.activeElement.matches(".group"),
    Escape: () => ["#filters", "#options"].includes(location.hash),
  };
  document.addEventListener("keydown", (event) => {
    const typing = event.target.closest("input, select, textarea, [contenteditable]");
    if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (!(event.key in acts) || !(may[event.key]?.() ?? true)) return;
    event.preventDefault();
    acts[event.key]();
  });

  // Further duplicates are put below those that are there; without this file their link leads to a page of its own.
  const more = async (link) => {
    const copies = link.closest(".copies");
    const answer = await fetch(link.href);
    if (!answer.ok) throw new Error(answer.statusText);
    const rest = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("rest");
    const first = rest.querySelector("li");
    copies.querySelector("ol").append(...rest.querySelectorAll("li.duplicate"));
    const next = rest.querySelector("a.rest");
    if (next) link.replaceWith(next);
    else link.closest("p").remove();
    return first;
  };
  document.addEventListener("click", async (event) => {
    const link = event.target.closest("a.rest");
    const copies = link?.closest("details.copies, .copies");
    if (!copies?.querySelector("ol") || !plain(event)) return;
    event.preventDefault();
    try {
      const first = await more(link);
      if (copies.id) remember("further", { ...remembered("further"), [copies.id]: (remembered("further")[copies.id] || 0) + 1 });
      first?.querySelector("a")?.focus();
    } catch {
      window.location.assign(link.href);
    }
  });

  // What differs is read when a group is opened, where the page came without it.
  const differ = async (copies) => {
    for (const place of copies.querySelectorAll("[data-differs]")) {
      const address = place.dataset.differs;
      delete place.dataset.differs;
      const answer = await fetch(address);
      if (!answer.ok) continue;
      const read = new DOMParser().parseFromString(await answer.text(), "text/html").querySelector("p.differs");
      if (read) place.replaceWith(read);
    }
  };
  for (const copies of document.querySelectorAll("details.copies")) {
    if (copies.open) differ(copies).catch(() => {});
    copies.addEventListener("toggle", () => { if (copies.open) differ(copies).catch(() => {}); });
  }

  // A calendar for each field of a date; what is chosen is written into the field.
  for (const button of document.querySelectorAll("button.calendar")) {
    const field = button.parentElement.querySelector("input");
    const calendar = Object.assign(document.createElement("input"), { type: "date", tabIndex: -1, className: "picker" });
    calendar.setAttribute("aria-hidden", "true");
    button.after(calendar);
    button.hidden = !calendar.showPicker;
    button.addEventListener("click", () => {
      if (/^\d{4}-\d\d-\d\d$/.test(field.value)) calendar.value = field.value;
      calendar.showPicker();
    });
    calendar.addEventListener("change", () => { field.value = calendar.value; });
  }

  // Opened groups stay open, and further duplicates stay there, when a reader comes back to the list.
  const reopen = async () => {
    for (const [id, open] of Object.entries(remembered("open"))) {
      const copies = document.getElementById(id);
      if (copies) copies.open = open;
    }
    for (const [id, times] of Object.entries(remembered("further"))) {
      for (let time = 0; time < times; time += 1) {
        const link = document.getElementById(id)?.querySelector("a.rest");
        if (link) await more(link);
      }
    }
  };
  reopen().catch(() => {}).finally(() => {
    for (const copies of document.querySelectorAll("details.copies[id]")) {
      copies.addEventListener("toggle", () => remember("open", { ...remembered("open"), [copies.id]: copies.open }));
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
