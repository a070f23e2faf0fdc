import { expect, it } from "vitest";
import { allowLongTests } from "../support/test-depth.ts";
import { checkViews } from "./support/check-views.ts";
import { OTHER_VIEWS } from "./support/portal-views.ts";

allowLongTests();

it("The inbox, the sign-in and the errors pass axe in light and dark, on a desktop and on a phone, and never scroll sideways", async () => {
  expect(await checkViews(OTHER_VIEWS)).toEqual([]);
});
