import { expect, it } from "vitest";
import { createHost } from "../../src/host/index.ts";
import { createHostClient } from "../support/acp/host-client.ts";
import { createClientToolSessions } from "../support/session/client-tool-sessions.ts";
import { says, wants } from "../support/session/scripted-provider.ts";

function loads(skill: string) {
  return [wants({ id: skill, name: "load_skill", input: { skill } }), says("Done.")];
}

it("A host of the SDK offers its skills, and announces a change with skillsChanged [B-259] [B-262] [B-263]", async () => {
  const world = createClientToolSessions([
    ...loads("deploy"),
    ...loads("acme/review"),
    ...loads("deploy"),
  ]);
  const skills = new Map([
    ["deploy", { name: "deploy", description: "Ship it", body: "# Deploy" }],
  ]);
  const host = createHost({
    skills: {
      list: () => Array.from(skills, ([id, skill]) => ({ id, ...skill })),
      fetch: (id) => skills.get(id),
    },
  });
  const { client } = createHostClient(world.sessions, { host });
  const { sessionId } = await client.newSession({ workingDirectory: "/work" });
  await client.prompt(sessionId, "Ship it").result;
  skills.set("acme/review", { name: "review", description: "Code review", body: "# Review" });
  await client.skillsChanged();
  await client.prompt(sessionId, "Review it").result;
  // The host does not announce the deletion: the agent still offers the skill, and the host no longer has the skill.
  skills.delete("deploy");
  const { reason } = await client.prompt(sessionId, "Ship it").result;
  expect(reason).toBe("end_turn");
  expect(await world.listResults(sessionId)).toEqual([
    "# Deploy",
    "# Review",
    'load_skill failed: skills/fetch failed on the host: Skill "deploy" does not exist',
  ]);
});
