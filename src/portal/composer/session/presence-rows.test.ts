import { describe, expect, it } from "vitest";
import type { LiveClient } from "../../../domain/live-client.ts";
import { listPresence, resolveControl, summarizePresence } from "./presence-rows.ts";

function createClient(clientId: string, fields: Partial<LiveClient> = {}): LiveClient {
  const times = { attachedAt: 1, lastSeenAt: 1 };
  const rights = { mayPrompt: false, mayApprove: false };
  return {
    clientId,
    role: "observer",
    name: clientId,
    ...times,
    ...rights,
    metadata: {},
    ...fields,
  };
}

const clients = [createClient("other"), createClient("page"), createClient("acpx")];

describe("The clients of a session", () => {
  it("The controller is first, then this page, then the others", () => {
    const rows = listPresence({ clients, controller: "acpx" }, "page");
    expect(rows.map(({ name, role }) => [name, role])).toEqual([
      ["acpx", "Controller: prompts and decides"],
      ["page", "Observer: watches"],
      ["other", "Observer: watches"],
    ]);
    expect(rows.map(({ isSelf, isController }) => [isSelf, isController])).toEqual([
      [false, true],
      [true, false],
      [false, false],
    ]);
  });

  it("The rights of observers are named", () => {
    const roles = (mayPrompt: boolean, mayApprove: boolean) =>
      listPresence(
        { clients: [createClient("a", { mayPrompt, mayApprove })], controller: null },
        null,
      ).map(({ role }) => role);
    expect(roles(true, true)).toEqual(["Observer that may prompt and decide"]);
    expect(roles(true, false)).toEqual(["Observer that may prompt"]);
    expect(roles(false, true)).toEqual(["Observer that may decide"]);
  });

  it("The summary names who controls the session", () => {
    expect(summarizePresence({ clients, controller: "acpx" }, "page")).toBe("acpx controls");
    expect(summarizePresence({ clients, controller: "page" }, "page")).toBe("You control");
    expect(summarizePresence({ clients, controller: null }, "page")).toBe("No controller");
  });

  it("A page with the right takes control, and releases it again", () => {
    const participant = {
      rights: ["control"],
      isConnected: true,
      clientId: "page",
      principal: "ada",
    } as const;
    expect(resolveControl({ controller: "acpx" }, participant)).toEqual({ change: "take" });
    expect(resolveControl({ controller: "page" }, participant)).toEqual({ change: "release" });
    expect(resolveControl({ controller: null }, { ...participant, rights: [] })).toEqual({
      change: "take",
      disabledReason: "Your key does not have the right to control",
    });
  });
});
