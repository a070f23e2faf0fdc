import { expect, it } from "vitest";
import { resolveProgramName } from "./program-name.ts";

it.each([
  ["/usr/local/bin/spanline", "spanline"],
  ["/home/ada/project/node_modules/.bin/spanline", "npx spanline"],
  ["/home/ada/spanline/dist/cli/main.js", "node /home/ada/spanline/dist/cli/main.js"],
])("The program %s is started again with: %s", (program, command) => {
  expect(resolveProgramName({ argv: [program, "up"] })).toBe(command);
});
