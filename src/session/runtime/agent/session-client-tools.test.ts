import { expect, it } from "vitest";
import type { ClientTools } from "../../../domain/client-tools.ts";
import { createClientTools } from "./session-client-tools.ts";

it("Changed skills of a client do not open its tools again, and problems are returned once", async () => {
  const problem = { code: "invalid_tool", message: "It has no name", details: {} } as const;
  let openCount = 0;
  const tools = createClientTools({
    open: () => {
      openCount += 1;
      const close = (): Promise<void> => Promise.resolve();
      return Promise.resolve({ listTools: () => [], problems: [problem], close });
    },
    location: { sessionId: "s" },
    onChange: () => undefined,
    report: () => undefined,
  });
  const server = {
    type: "http",
    name: "files",
    url: "https://files.example",
    headers: {},
  } as const;
  const setSkills = (...ids: readonly string[]) => {
    const skills = ids.map((id) => ({ id, name: id, description: "" }));
    const offer: ClientTools = { servers: [server], tools: [], skills: { skills, problems: [] } };
    return tools.setClientTools("ide", offer);
  };
  const listNames = () => tools.listTools().map(({ spec }) => spec.name);
  expect(await setSkills("deploy")).toEqual([problem]);
  expect(listNames()).toEqual(["load_skill"]);
  expect(await setSkills("deploy", "review")).toEqual([]);
  expect(await setSkills()).toEqual([]);
  expect(listNames()).toEqual([]);
  expect(openCount).toBe(1);
});
