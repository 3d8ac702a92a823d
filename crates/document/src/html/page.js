// What the page does beyond being read: it works without any of this.
"use strict";

(() => {
  const all = (selector, root = document) => [...root.querySelectorAll(selector)];
  const one = (selector) => document.querySelector(selector);
  for (const tool of all(".tools, .filter")) tool.hidden = false;

  // The theme: the system's, light or dark, kept where the browser allows it.
  const themes = ["system", "light", "dark"];
  const themeButton = one("#theme");
  const kept = () => {
    try {
      return localStorage.getItem("dynafold-theme");
    } catch {
      return null;
    }
  };
  const setTheme = (theme) => {
    if (theme === "system") delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = theme;
    themeButton.textContent = `Theme: ${theme}`;
    try {
      localStorage.setItem("dynafold-theme", theme);
    } catch {
      // Then it lasts as long as the page does.
    }
  };
  let theme = themes.includes(kept()) ? kept() : "system";
  setTheme(theme);
  themeButton.addEventListener("click", () => {
    theme = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(theme);
  });

  // What is long is folded away, and unfolded for paper.
  const folds = all("details.fold");
  const expandButton = one("#expand");
  const setFolds = (open) => {
    for (const fold of folds) fold.open = open;
    expandButton.textContent = open ? "Collapse all" : "Expand all";
  };
  setFolds(false);
  expandButton.addEventListener("click", () => setFolds(folds.some((fold) => !fold.open)));
  let before = [];
  addEventListener("beforeprint", () => {
    before = folds.map((fold) => fold.open);
    for (const fold of folds) fold.open = true;
  });
  addEventListener("afterprint", () => folds.forEach((fold, at) => (fold.open = before[at])));

  // The filter: every word must stand somewhere in the row, or the beginning of a long word.
  const filter = one("#filter");
  if (filter) {
    const rows = all("#patterns tbody tr");
    const texts = rows.map((row) => `${row.textContent} ${row.dataset.search}`.toLowerCase());
    const counter = one("#filter-count");
    const has = (text, word) => text.includes(word) || (word.length > 6 && text.includes(word.slice(0, 6)));
    const apply = () => {
      const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
      let shown = 0;
      rows.forEach((row, at) => {
        const fits = words.every((word) => has(texts[at], word));
        row.hidden = !fits;
        shown += fits ? 1 : 0;
      });
      const noun = rows.length === 1 ? "access pattern" : "access patterns";
      counter.textContent = words.length ? `${shown} of ${rows.length} ${noun}` : `${rows.length} ${noun}`;
    };
    filter.addEventListener("input", apply);
    filter.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      filter.value = "";
      apply();
    });
    addEventListener("keydown", (event) => {
      const typing = event.target.closest?.("input, textarea, select");
      if (event.key !== "/" || typing || event.ctrlKey || event.metaKey || event.altKey) return;
      event.preventDefault();
      filter.focus();
    });
    apply();
  }

  // The ERD: a table that is chosen shows what becomes of it, here and further down.
  const tables = all(".erd [data-table]");
  const fates = one(".fates");
  if (tables.length && fates) {
    one(".hint").hidden = false;
    // The table's name is the button.
    const grip = (table) => table.querySelector(".erd-grip");
    const choose = (name) => {
      fates.classList.toggle("chosen", name !== null);
      for (const fate of all(".fate", fates)) fate.hidden = fate.dataset.fate !== name;
      for (const table of tables) {
        grip(table).setAttribute("aria-pressed", String(table.dataset.table === name));
        table.classList.toggle("erd-lit", table.dataset.table === name);
      }
      for (const line of all(".erd .erd-edge")) {
        const touches = line.dataset.from === name || line.dataset.to === name;
        line.classList.toggle("erd-lit", touches);
        line.classList.toggle("erd-faded", name !== null && !touches);
      }
      for (const part of all("[data-sources]")) {
        part.classList.toggle("lit", name !== null && JSON.parse(part.dataset.sources).includes(name));
      }
    };
    let chosen = null;
    const toggle = (name) => {
      chosen = chosen === name ? null : name;
      choose(chosen);
    };
    for (const table of tables) {
      const name = table.dataset.table;
      grip(table).setAttribute("role", "button");
      grip(table).setAttribute("tabindex", "0");
      table.addEventListener("click", () => toggle(name));
      table.addEventListener("keydown", (event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        toggle(name);
      });
    }
    addEventListener("keydown", (event) => {
      if (event.key === "Escape" && chosen !== null) toggle(chosen);
    });
    choose(null);
  }
})();
