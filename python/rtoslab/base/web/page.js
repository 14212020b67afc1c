// A table is sorted by the column whose head is clicked, and what is folded is printed open. The page is whole without it.
(() => {
  "use strict";
  const numberOf = (text) => {
    const found = /[-+]?\d[\d,]*(?:\.\d+)?/.exec(text);
    return found ? Number(found[0].replaceAll(",", "")) : -Infinity;
  };
  const sort = (table, head, column) => {
    const falling = head.getAttribute("aria-sort") === "ascending";
    const numeric = head.classList.contains("n");
    const key = (row) => row.cells[column].textContent.trim();
    const compare = (one, other) =>
      numeric
        ? numberOf(key(one)) - numberOf(key(other))
        : key(one).localeCompare(key(other), "en", { numeric: true });
    const body = table.tBodies[0];
    const rows = [...body.rows].sort((one, other) => (falling ? compare(other, one) : compare(one, other)));
    body.append(...rows);
    for (const each of table.tHead.rows[0].cells) each.removeAttribute("aria-sort");
    head.setAttribute("aria-sort", falling ? "descending" : "ascending");
  };
  for (const table of document.querySelectorAll("table")) {
    if (table.tBodies[0].rows.length < 2) continue;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.title = "Sort by this column";
      button.append(...head.childNodes);
      button.addEventListener("click", () => sort(table, head, column));
      head.append(button);
    });
  }
  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });
})();
