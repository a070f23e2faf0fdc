import { expect, it } from "vitest";
import { allowLongTests } from "../support/test-depth.ts";
import { checkViews } from "./support/check-views.ts";
import { SESSION_VIEWS } from "./support/portal-views.ts";

allowLongTests();

it("Every state of a session passes axe in light and dark, on a desktop and on a phone, and never scrolls sideways", async () => {
  expect(await checkViews(SESSION_VIEWS)).toEqual([]);
});
