import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { AxeResults } from "axe-core";
import type { Page } from "playwright-core";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/** Rules of WCAG up to 2.2, level AA, and the best practices which axe-core tests. */
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

declare global {
  interface Window {
    readonly axe: { run(context: object, options: object): Promise<AxeResults> };
  }
}

/** Tests the visible page with axe-core. Returns a line for each violation and each element with it. */
export async function findViolations(page: Page): Promise<readonly string[]> {
  // The debugger's evaluation is not subject to the page's content security policy.
  await page.evaluate(AXE);
  const { violations } = await page.evaluate(
    (tags) => window.axe.run(document, { runOnly: { type: "tag", values: tags } }),
    TAGS,
  );
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${String(node.target)} ${node.html.slice(0, 200)}`),
  );
}
