// Takes the README's pictures of a definition document.
//
//     node screenshots.mjs BROWSER FILE FOLDER
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { launch } from "./launch.mjs";

const [browserPath, file, folder] = process.argv.slice(2);
const browser = await launch(browserPath);
for (const [name, section, colorScheme, viewport] of [
  ["definition-erd", "#erd", "light", { width: 1280, height: 990 }],
  ["definition-aggregate", "#aggregate", "dark", { width: 1400, height: 800 }],
]) {
  const context = await browser.newContext({ viewport, colorScheme });
  const page = await context.newPage();
  await page.goto(pathToFileURL(file).href);
  await page.locator(section).evaluate((element) => element.scrollIntoView());
  await page.screenshot({ path: join(folder, `${name}.png`) });
  await context.close();
}
await browser.close();
