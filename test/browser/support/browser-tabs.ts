import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { afterAll, expect, inject, onTestFinished } from "vitest";
import { WAIT_MS } from "../../support/with-deadline.ts";

/** One browser profile: tabs of the same profile share cookies and storage. */
export interface Profile {
  openTab(address: string): Promise<Tab>;
}

export interface Tab {
  readonly page: Page;
  /** Errors in the console, uncaught exceptions, violations of the content security policy, requests to other hosts. */
  readonly problems: readonly string[];
}

export interface ProfileOptions {
  readonly context?: BrowserContextOptions;
  /** Problems which the test causes on purpose, such as a lost connection. Default: none. */
  readonly expectedProblems?: RegExp;
}

/** The problems of a page whose requests are refused until its user signs in. */
export const NOT_SIGNED_IN = /status of 401|WebSocket connection to .* HTTP Authentication failed/;

let connection: Promise<Browser> | undefined;

/** A new profile. Problems of its tabs fail the test, and a failed test leaves screenshots in the temporary folder. */
export async function createProfile(options: ProfileOptions = {}): Promise<Profile> {
  connection ??= chromium.connect(inject("browser"));
  const browser = await connection;
  const context = await browser.newContext({ reducedMotion: "reduce", ...options.context });
  context.setDefaultTimeout(WAIT_MS);
  await context.addInitScript(reportViolations);
  const tabs: Tab[] = [];
  onTestFinished(async ({ task }) => {
    if (task.result?.state === "fail") await saveScreenshots(tabs, task.name);
    await context.close();
    const problems = tabs.flatMap((tab) => tab.problems);
    const { expectedProblems } = options;
    expect(problems.filter((problem) => expectedProblems?.test(problem) !== true)).toEqual([]);
  });
  return {
    async openTab(address) {
      const tab = watchPage(await context.newPage(), new URL(address).host);
      tabs.push(tab);
      await tab.page.goto(address);
      return tab;
    },
  };
}

afterAll(async () => {
  const browser = await connection;
  connection = undefined;
  await browser?.close();
});

/** Runs in the page, before its scripts. */
function reportViolations(): void {
  document.addEventListener("securitypolicyviolation", (violation) => {
    const { violatedDirective, blockedURI, sourceFile, lineNumber } = violation;
    const place = `${sourceFile}:${lineNumber}`;
    reportError(new Error(`CSP: ${violatedDirective} ${blockedURI} at ${place}`));
  });
}

function watchPage(page: Page, host: string): Tab {
  const problems: string[] = [];
  page.on("console", (message) => {
    if (message.type() !== "error" && message.type() !== "warning") return;
    problems.push(`${message.type()}: ${message.text()} (${message.location().url})`);
  });
  page.on("pageerror", (error) => problems.push(`exception: ${error.stack ?? error.message}`));
  page.on("dialog", (dialog) => {
    problems.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("request", (request) => {
    const url = new URL(request.url());
    const isLocal = url.protocol === "data:" || url.protocol === "blob:" || url.host === host;
    if (!isLocal) problems.push(`request to another host: ${request.url()}`);
  });
  return { page, problems };
}

async function saveScreenshots(tabs: readonly Tab[], title: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "spanline-screenshots-"));
  for (const [index, { page }] of tabs.entries()) {
    if (page.isClosed()) continue;
    await page.screenshot({ path: join(folder, `tab-${index + 1}.png`) }).catch(() => undefined);
  }
  process.stderr.write(`Screenshots of "${title}": ${folder}\n`);
}
