// The style sheet and the script of a page. The script makes a header of a table a button that sorts its rows.
#include "results/page/html_text.hpp"

namespace odrpo::page {

const std::string_view style_text = R"css(
:root{color-scheme:light dark;--ink:#1b1d20;--soft:#5b616a;--rule:#1b1d20;--hair:#c8cdd4;--paper:#fff;--code:#f3f4f6;--link:#0b57d0}
@media (prefers-color-scheme:dark){
:root{--ink:#e6e6e3;--soft:#a5abb4;--rule:#c9cac8;--hair:#3d434c;--paper:#15171a;--code:#1f2227;--link:#8ab4f8}}
*{box-sizing:border-box}
body{margin:0 auto;padding:2rem 1rem 4rem;max-width:64rem;background:var(--paper);color:var(--ink);
font:1rem/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Helvetica Neue",Arial,sans-serif;overflow-wrap:anywhere}
h1{margin:0;font-size:1.9rem;line-height:1.2}
h2{margin:2.5rem 0 .75rem;font-size:1.3rem;line-height:1.3}
h3{margin:1.75rem 0 .5rem;font-size:1.05rem}
p{margin:.5rem 0}
a{color:var(--link)}
.lead,.note,.cut,figcaption{color:var(--soft)}
.alert{border-left:.25rem solid #c0392b;padding-left:.75rem}
nav ul{list-style:none;margin:1rem 0 0;padding:0;display:flex;flex-wrap:wrap;gap:.25rem 1.25rem}
pre,code{font:.875rem/1.5 ui-monospace,SFMono-Regular,Menlo,Consolas,"Liberation Mono",monospace}
pre{margin:.5rem 0;padding:.75rem 1rem;background:var(--code);border-radius:.375rem;overflow-x:auto;overflow-wrap:normal}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.15rem 1.25rem;margin:1rem 0;font-size:.925rem}
dt{color:var(--soft)}
dd{margin:0;min-width:0}
section>ul{margin:.75rem 0;padding-left:1.25rem;font-size:.925rem;color:var(--soft)}
summary{cursor:pointer}
.scroll{overflow-x:auto;margin:1rem 0;overflow-wrap:normal}
table{border-collapse:collapse;font-size:.925rem;font-variant-numeric:tabular-nums;border-top:.125rem solid var(--rule);
border-bottom:.125rem solid var(--rule)}
caption{padding:0 0 .4rem;text-align:left;font-weight:600;overflow-wrap:anywhere}
th,td{padding:.2rem .65rem;text-align:right;white-space:nowrap;vertical-align:baseline}
thead th{font-weight:600;vertical-align:bottom}
thead tr:last-child th,th[data-column="0"]{border-bottom:.0625rem solid var(--rule)}
thead th.span{text-align:center;border-bottom:.0625rem solid var(--hair)}
tbody th,th[data-column="0"]{padding-left:0;text-align:left}
tr>:last-child{padding-right:0}
tbody th{font-weight:400}
tbody th.long{min-width:14rem;max-width:24rem;white-space:normal;overflow-wrap:anywhere}
tr.group>*{border-top:.0625rem solid var(--hair)}
table.sorted tr.group>*{border-top:0}
tbody tr:hover>*{background:var(--code)}
td span{color:var(--soft)}
td em{display:inline-block;width:.7em;text-align:left;font-style:normal;font-weight:700;color:var(--ink)}
th button{padding:0;border:0;background:none;color:inherit;font:inherit;text-align:inherit;cursor:pointer}
th button::after{content:"\2195";display:inline-block;width:1em;text-align:right;color:var(--soft);opacity:.55}
th[aria-sort=ascending] button::after{content:"\2191";color:inherit;opacity:1}
th[aria-sort=descending] button::after{content:"\2193";color:inherit;opacity:1}
:focus-visible{outline:.125rem solid var(--link);outline-offset:.125rem}
figure{margin:1.25rem 0}
figure svg{display:block;width:auto;max-width:100%;min-width:32rem;height:auto;padding:.5rem;background:#fff;border-radius:.375rem}
@media (max-width:40rem){body{padding-top:1rem}dl{column-gap:.75rem}tbody th.long{min-width:8rem}}
@media (min-width:40rem){th[data-column="0"],tbody th{position:sticky;left:0;background:var(--paper)}}
@page across{size:landscape}
@media print{body{max-width:none;padding:0;font-size:.8rem}nav,th button::after{display:none}.scroll{overflow:visible}
table{font-size:.7rem}th,td{white-space:normal}td span{white-space:nowrap}td em{display:inline}.wide{page:across}.wide table{font-size:.55rem}
.wide th,.wide td{padding:.1rem .2rem}pre{white-space:pre-wrap}h2,h3,caption{break-after:avoid}tr,figure{break-inside:avoid}}
)css";

const std::string_view script_text = R"js(
"use strict";
for (const table of document.querySelectorAll("table")) {
  const body = table.tBodies[0], rows = Array.from(body.rows), heads = Array.from(table.querySelectorAll("th[data-column]"));
  if (rows.length < 2) continue;
  for (const head of heads) {
    const column = Number(head.dataset.column), button = document.createElement("button");
    const cell = (row) => row.cells[column];
    const numeric = rows.every((row) => cell(row).dataset.value !== undefined);
    const key = (row) => {
      if (!numeric) return cell(row).textContent;
      const text = cell(row).dataset.value;
      return text === "" ? null : Number(text.replace("inf", "Infinity"));
    };
    button.type = "button";
    button.append(...Array.from(head.childNodes));
    head.append(button);
    head.setAttribute("aria-sort", "none");
    button.addEventListener("click", () => {
      const next = { none: "ascending", ascending: "descending", descending: "none" }[head.getAttribute("aria-sort")];
      for (const other of heads) other.setAttribute("aria-sort", other === head ? next : "none");
      table.classList.toggle("sorted", next !== "none");
      const sign = next === "descending" ? -1 : 1;
      const order = rows.map((row, place) => ({ row, place, key: key(row) }));
      if (next !== "none") {
        order.sort((a, b) => {
          if (a.key === null || b.key === null) return (a.key === null) - (b.key === null) || a.place - b.place;
          return sign * (numeric ? a.key - b.key || 0 : a.key.localeCompare(b.key, "en", { numeric: true })) || a.place - b.place;
        });
      }
      for (const { row } of order) body.append(row);
    });
  }
}
)js";

}  // namespace odrpo::page
