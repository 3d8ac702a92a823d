// Starts the system's Chromium so that it asks nothing of the network. The packages are where the
// program is started: tests/setup/browser.sh installs them in a folder that is not the sources'.
import { createRequire } from "node:module";
import { join } from "node:path";

export const require = createRequire(join(process.cwd(), "package.json"));
const { chromium } = require("playwright-core");

export const launch = (executablePath) =>
  chromium.launch({
    executablePath,
    args: [
      "--disable-gpu",
      "--disable-quic",
      "--no-first-run",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-sync",
    ],
  });
