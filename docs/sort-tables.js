// Tables of the site are sorted by a click on a heading: by number where every cell of the column has one, else by text.
document.addEventListener("DOMContentLoaded", () => {
  const number = (text) => parseFloat(text.replace(/,/g, ""));
  const sortBy = (table, column, heading) => {
    const body = table.tBodies[0];
    const cell = (row) => row.cells[column].textContent.trim();
    const rows = [...body.rows];
    const numeric = rows.every((row) => !isNaN(number(cell(row))));
    const downwards = heading.getAttribute("aria-sort") === "ascending";
    const compare = (a, b) => (numeric ? number(cell(a)) - number(cell(b)) : cell(a).localeCompare(cell(b)));
    rows.sort((a, b) => (downwards ? compare(b, a) : compare(a, b)));
    for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
    heading.setAttribute("aria-sort", downwards ? "descending" : "ascending");
    body.append(...rows);
  };
  for (const table of document.querySelectorAll("article table")) {
    [...(table.tHead ? table.tHead.rows[0].cells : [])].forEach((heading, column) => {
      const button = document.createElement("button");
      button.append(...heading.childNodes);
      button.style.cssText = "font: inherit; color: inherit; cursor: pointer; text-align: inherit";
      button.addEventListener("click", () => sortBy(table, column, heading));
      heading.append(button);
    });
  }
});
