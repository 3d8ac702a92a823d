// Opens one definition document in headless Chromium and checks what a reader relies on.
//
//     node check.mjs BROWSER FILE [MOST_MS]
//
// Prints a line for each check, and ends with 1 when one of them failed. Run by tests/browser.rs.
import { readFile, stat } from "node:fs/promises";
import { pathToFileURL } from "node:url";
import { launch, require } from "./launch.mjs";

const [browserPath, file, mostMs = "1000"] = process.argv.slice(2);
const url = pathToFileURL(file).href;
const axe = await readFile(require.resolve("axe-core/axe.min.js"), "utf8");
const DESKTOP = { width: 1280, height: 800 };
const PHONE = { width: 390, height: 844 };
// What A4 leaves between margins of 14 mm, in CSS pixels.
const PAPER = { width: 688, height: 1000 };

const browser = await launch(browserPath);
const failures = [];

// Runs a check on a page of its own; what it returns is a list of faults.
async function check(name, run, options = {}) {
  const context = await browser.newContext({ viewport: DESKTOP, ...options });
  const page = await context.newPage();
  const faults = [];
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on("pageerror", (error) => faults.push(`script: ${error}`));
  page.on("dialog", (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    if (request.url() !== url) faults.push(`request: ${request.url()}`);
  });
  try {
    await page.goto(url);
    faults.push(...((await run(page)) ?? []));
  } catch (error) {
    faults.push(String(error));
  }
  await context.close();
  console.log(`${faults.length ? "FAILED" : "ok"} ${name}`);
  for (const fault of faults.slice(0, 12)) console.log(`  ${fault}`);
  if (faults.length) failures.push(name);
}

// A fault unless it holds.
const expect = (holds, fault) => (holds ? [] : [fault]);

await check("it is under 2 MB and opens in time", async (page) => {
  const { size } = await stat(file);
  const times = [];
  for (let round = 0; round < 3; round += 1) {
    await page.reload();
    times.push(await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd));
  }
  const fastest = Math.min(...times);
  console.log(`  ${size} bytes, ${fastest.toFixed(0)} ms`);
  return [
    ...expect(size < 2_000_000, `${size} bytes`),
    ...expect(fastest < Number(mostMs), `${fastest} ms`),
  ];
});

await check("every link leads somewhere, and every id is one", (page) =>
  page.evaluate(() => {
    const faults = [];
    const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
    const twice = ids.filter((id, at) => ids.indexOf(id) !== at);
    faults.push(...twice.map((id) => `id twice: ${id}`));
    const links = [...document.querySelectorAll("a[href]")];
    if (!links.length) faults.push("no links");
    for (const link of links) {
      const href = link.getAttribute("href");
      const target = href.startsWith("#") && document.getElementById(decodeURIComponent(href.slice(1)));
      if (!target) faults.push(`link: ${href}`);
    }
    return faults;
  }),
);

await check("a link into what is folded shows it", async (page) => {
  const hidden = await page.evaluate(async () => {
    const links = [...document.querySelectorAll("a[href^='#']")];
    const faults = [];
    for (const link of links) {
      link.click();
      const target = document.getElementById(decodeURIComponent(link.hash.slice(1)));
      if (!target.getClientRects().length) faults.push(`not shown: ${link.hash}`);
    }
    return faults;
  });
  return hidden;
});

await check("the table of patterns filters, and says how many are left", async (page) => {
  const rows = page.locator("#patterns tbody tr");
  const all = await rows.count();
  if (!all) return expect(!(await page.locator("#filter").count()), "a filter and no patterns");
  const shown = () => page.locator("#patterns tbody tr:visible").count();
  const said = () => page.locator("[role=status]").first().textContent();
  const faults = expect((await said()).startsWith(String(all)), `at first: ${await said()}`);
  const name = (await rows.last().locator("th a").textContent()).trim();
  await page.fill("#filter", name);
  const some = await shown();
  faults.push(...expect(some >= 1 && (some < all || all === 1), `${some} of ${all} for ${name}`));
  faults.push(...expect((await said()).startsWith(`${some} of ${all}`), `said: ${await said()}`));
  await page.fill("#filter", "no pattern has these words zzz");
  faults.push(...expect((await shown()) === 0, "nothing fits, and rows are shown"));
  faults.push(...expect((await said()).startsWith(`0 of ${all}`), `said: ${await said()}`));
  await page.press("#filter", "Escape");
  return [...faults, ...expect((await shown()) === all, "Escape shows all again")];
});

await check("a table of the ERD can be chosen with the mouse and with the keyboard", async (page) => {
  const tables = page.locator(".erd svg [data-table]");
  const count = await tables.count();
  const chosen = () => page.locator(".erd svg [data-table] [aria-pressed=true]").count();
  const fates = () => page.locator(".fate:visible").count();
  const at = await tables.evaluateAll((all) => {
    const lit = (table) =>
      [...document.querySelectorAll("[data-sources]")].some((part) =>
        JSON.parse(part.dataset.sources).includes(table.dataset.table),
      );
    return Math.max(all.findIndex(lit), 0);
  });
  if (!count) return ["no tables"];
  const table = tables.nth(at);
  const faults = [];
  const state = async (step, wanted) => {
    const parts = [await chosen(), await fates(), (await page.locator(".lit").count()) > 0];
    const want = wanted ? [1, 1, true] : [0, 0, false];
    if (JSON.stringify(parts) !== JSON.stringify(want)) faults.push(`${step}: ${parts}`);
  };
  await table.locator(".erd-head").click();
  await state("click", true);
  const name = await table.getAttribute("data-table");
  const shown = await page.locator(".fate:visible").getAttribute("data-fate");
  faults.push(...expect(shown === name, `${name} is chosen and ${shown} shown`));
  await table.locator(".erd-head").click();
  await page.mouse.move(0, 0);
  const after = [await chosen(), await page.locator(".lit").count()];
  faults.push(...expect(String(after) === "0,0", `a second click: ${after}`));
  await table.locator("[role=button]").focus();
  await page.keyboard.press("Enter");
  await state("Enter", true);
  await page.keyboard.press("Escape");
  faults.push(...expect((await chosen()) === 0, "Escape"));
  await page.keyboard.press("Space");
  await state("Space", true);
  const dim = await page.locator(".erd-edge.erd-lit").count();
  const touching = await page.locator(".erd-edge").evaluateAll(
    (edges, name) => edges.filter((e) => [e.dataset.from, e.dataset.to].includes(name)).length,
    name,
  );
  return [...faults, ...expect(dim === touching, `${dim} of ${touching} lines are lit`)];
});

await check("the ERD's text stays within its boxes, and its labels beside them", (page) =>
  page.evaluate(() => {
    const faults = [];
    const boxes = [...document.querySelectorAll(".erd-table")].map((table) => {
      const box = table.querySelector(".erd-box").getBoundingClientRect();
      for (const text of table.querySelectorAll("text")) {
        const own = text.getBoundingClientRect();
        if (own.left < box.left || own.right > box.right) {
          faults.push(`${table.dataset.table}: ${text.textContent.slice(0, 60)}`);
        }
      }
      return box;
    });
    for (const label of document.querySelectorAll(".erd-label")) {
      const own = label.getBoundingClientRect();
      const over = (box) =>
        own.left < box.right && box.left < own.right && own.top + 2 < box.bottom && box.top < own.bottom - 2;
      if (boxes.some(over)) faults.push(`label: ${label.textContent}`);
    }
    return faults;
  }),
);

for (const scheme of ["light", "dark"]) {
  const look = async (page) => {
    await page.evaluate(() => document.querySelectorAll("details").forEach((fold) => (fold.open = true)));
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run());
    return violations
      .filter((violation) => ["serious", "critical"].includes(violation.impact))
      .flatMap(({ id, nodes }) => nodes.slice(0, 3).map((node) => `${id}: ${node.target} ${node.failureSummary}`));
  };
  await check(`axe finds nothing serious, ${scheme}`, look, { colorScheme: scheme, bypassCSP: true });
}

for (const viewport of [DESKTOP, PHONE]) {
  const look = (page) =>
    page.evaluate(() => {
      document.querySelectorAll("details").forEach((fold) => (fold.open = true));
      const { scrollWidth, clientWidth } = document.documentElement;
      if (scrollWidth <= clientWidth) return [];
      const wide = [...document.querySelectorAll("body *")].filter(
        (element) => element.getBoundingClientRect().right > clientWidth + 1 && !element.closest(".wide, .erd, pre"),
      );
      return [`${scrollWidth} of ${clientWidth}`, ...wide.slice(0, 5).map((e) => `${e.tagName}.${e.className}#${e.id}`)];
    });
  await check(`nothing is wider than ${viewport.width} pixels`, look, { viewport });
}

await check("it prints whole", async (page) => {
  const pdf = await page.pdf({ preferCSSPageSize: true });
  const pages = pdf.toString("latin1").match(/\/Type\s*\/Page\b/g)?.length ?? 0;
  console.log(`  ${pages} pages, ${pdf.length} bytes`);
  const faults = expect(pdf.subarray(0, 5).toString() === "%PDF-" && pages > 0, "no PDF");
  await page.emulateMedia({ media: "print" });
  await page.setViewportSize(PAPER);
  const cut = await page.evaluate(() => {
    dispatchEvent(new Event("beforeprint"));
    const faults = [];
    for (const fold of document.querySelectorAll("details:not([open])")) faults.push(`folded: ${fold.textContent.slice(0, 40)}`);
    const width = document.documentElement.clientWidth;
    for (const element of document.querySelectorAll("main *")) {
      if (element.closest("svg") && element.tagName !== "svg") continue;
      const style = getComputedStyle(element);
      const hides = style.overflowX !== "visible" && element.scrollWidth > element.clientWidth + 1;
      const beyond = element.getBoundingClientRect().right > width + 1;
      if (hides || beyond) faults.push(`cut: ${element.tagName}.${element.className} ${element.textContent.slice(0, 50)}`);
    }
    return faults;
  });
  return [...faults, ...cut];
});

await check(
  "it can be read without its script",
  async (page) => {
    const faults = [];
    const visible = (selector) => page.locator(`:is(${selector}):visible`).count();
    for (const selector of ["h1", "#patterns table", "#erd svg [data-table]", "#items", "#aggregate"]) {
      faults.push(...expect((await visible(selector)) > 0, `not shown: ${selector}`));
    }
    faults.push(...expect((await page.locator("details:not([open])").count()) === 0, "something is folded"));
    faults.push(...expect((await visible("#filter, .tools, .hint")) === 0, "tools that need the script are shown"));
    return faults;
  },
  { javaScriptEnabled: false },
);

await browser.close();
process.exitCode = failures.length ? 1 : 0;
