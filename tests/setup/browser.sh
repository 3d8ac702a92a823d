# shellcheck shell=bash
# What the tests of the definition document in a browser need: Node.js, Chromium, and the packages of tests/browser.
# Sets DYNAFOLD_BROWSER to the browser, or to `none`, and DYNAFOLD_BROWSER_MISSING to the reason.

browser_packages=target/test-browser

prepare_browser() {
    local browser
    DYNAFOLD_BROWSER=none
    if ! command -v node >/dev/null || ! command -v npm >/dev/null; then
        export DYNAFOLD_BROWSER_MISSING="Node.js and npm are not installed"
        return
    fi
    if ! find_browser >/dev/null && ((EUID == 0)) && command -v apt-get >/dev/null; then
        say "installing with apt-get: chromium"
        apt-get update >"$browser_packages.log" 2>&1 &&
            DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends chromium >>"$browser_packages.log" 2>&1 ||
            say "that failed; see $browser_packages.log"
    fi
    if ! browser=$(find_browser); then
        export DYNAFOLD_BROWSER_MISSING="neither chromium nor google-chrome is installed"
        return
    fi
    if ! install_browser_packages; then
        export DYNAFOLD_BROWSER_MISSING="the packages of tests/browser could not be installed, see $browser_packages.log"
        return
    fi
    DYNAFOLD_BROWSER=$browser
}

find_browser() {
    command -v chromium || command -v chromium-browser || command -v google-chrome
}

# Again only when the lock file has changed.
install_browser_packages() {
    if cmp -s tests/browser/package-lock.json "$browser_packages/installed"; then return; fi
    mkdir -p "$browser_packages"
    cp tests/browser/package.json tests/browser/package-lock.json "$browser_packages"
    (cd "$browser_packages" && npm ci --ignore-scripts --no-audit --no-fund) >"$browser_packages.log" 2>&1 &&
        cp tests/browser/package-lock.json "$browser_packages/installed"
}
