import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { says } from "../support/session/scripted-provider.ts";
import { readAllEvents } from "./support/read-events.ts";
import { serveA2a } from "./support/serve-a2a.ts";

const page = readFileSync(join(import.meta.dirname, "../../docs/a2a.md"), "utf8");

/** The cells of the table of operations. */
const rows = (page.split("## Operations")[1] ?? "")
  .split("## States")[0]
  ?.split("\n")
  .filter((line) => /^\| (?!operation|---)/.test(line))
  .map((line) => line.split("|").slice(1, -1));

it("The example request of docs/a2a.md streams a task to its end", async () => {
  const body = /-d '(\{[\s\S]*?\})'\n```/.exec(page)?.[1] ?? "";
  const served = await serveA2a([says("Hello!")]);
  const events = await readAllEvents(await served.open(JSON.parse(body)));
  expect(events.at(-1)?.data.result.statusUpdate.status.state).toBe("TASK_STATE_COMPLETED");
});

it("Every method and every path in the table of docs/a2a.md exists", async () => {
  const served = await serveA2a([says("Hello!")]);
  expect(rows).toHaveLength(7);
  let checked = 0;
  for (const [, rpc = "", legacy = "", http = ""] of rows ?? []) {
    for (const [, method = ""] of `${rpc}${legacy}`.matchAll(/`([A-Za-z/]+)`/g)) {
      checked += 1;
      expect((await served.rpc(method, {})).error?.code, method).not.toBe(-32601);
    }
    const [, verbs = "", path = ""] = /^ `?(.*?) `?(\/a2a\S*?)` $/.exec(http) ?? [];
    for (const [method] of verbs.matchAll(/GET|POST/g)) {
      const init =
        method === "POST" ? { body: "{}", headers: { "content-type": "application/json" } } : {};
      const response = await served.fetch(`${served.url}${path}`, { method, ...init });
      expect(await response.text(), `${method} ${path}`).not.toContain("METHOD_NOT_FOUND");
      checked += 1;
    }
  }
  // 7 methods of 1.0, 6 of 0.3, and 8 requests of HTTP.
  expect(checked).toBe(21);
});
