import { expect, it } from "vitest";
import { allowLongTests } from "../support/test-depth.ts";
import { checkViews } from "./support/check-views.ts";
import { OUTPUT_VIEWS } from "./support/portal-views.ts";

allowLongTests();

it("Workers, plans, artifacts, handoffs, compaction and results of commands pass axe in light and dark, on a desktop and on a phone, and never scroll sideways", async () => {
  expect(await checkViews(OUTPUT_VIEWS)).toEqual([]);
});
