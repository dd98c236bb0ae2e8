// Hides rows of the matrix that do not match. Without it the page shows all rows.
"use strict";
const form = document.querySelector("form.filter");
const rows = [...document.querySelectorAll(".matrix tr[data-v]")];
const count = form.querySelector("output");

function apply() {
  const { verdict, seen, words } = form.elements;
  const asked = words.value.trim().toLowerCase();
  let shown = 0;
  for (const row of rows) {
    row.hidden =
      (verdict.value !== "" && row.dataset.v !== verdict.value) ||
      (seen.value !== "" && !row.dataset.o.split(" ").includes(seen.value)) ||
      (asked !== "" && !row.querySelector("th").textContent.toLowerCase().includes(asked));
    if (!row.hidden) shown += 1;
  }
  for (const body of document.querySelectorAll(".matrix tbody")) {
    body.hidden = !body.querySelector("tr[data-v]:not([hidden])");
  }
  count.textContent = `${shown} of ${rows.length} claims`;
}

form.addEventListener("input", apply);
form.addEventListener("submit", (event) => event.preventDefault());
form.hidden = false;
apply();
