import { join } from "node:path";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";
import { findChromium } from "../../support/find-chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Address of the browser, which all test files share. */
    readonly browser: string;
  }
}

/** Global setup of Vitest: starts one browser. Every test has its own context, with its own cookies and storage. */
export async function setup(project: TestProject): Promise<() => Promise<void>> {
  const found = findChromium(join(import.meta.dirname, ".."));
  if (found === undefined) {
    throw new Error(
      "Chromium is not installed. Fix: install chromium, or run npm ci --prefix test/browser",
    );
  }
  const { executablePath, args, environment } = found;
  const server = await chromium.launchServer({
    executablePath,
    args,
    env: { ...process.env, ...environment },
  });
  project.provide("browser", server.wsEndpoint());
  return () => server.close();
}
