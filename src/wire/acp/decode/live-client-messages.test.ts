import { describe, expect, it } from "vitest";
import type { LiveClient } from "../../../domain/live-client.ts";
import { encodeClientList } from "./live-client-messages.ts";

describe("List of live clients", () => {
  it("The list names all of 100 clients and drops metadata that does not fit into a line", () => {
    const much = { words: "x".repeat(10_000) };
    const clients = Array.from({ length: 100 }, (_, at): LiveClient => ({
      clientId: `c${at}`,
      role: "observer",
      name: "",
      attachedAt: 0,
      lastSeenAt: 0,
      mayPrompt: false,
      mayApprove: false,
      metadata: at === 99 ? { surface: "last" } : much,
    }));
    const { data } = encodeClientList(clients);
    expect(data.map(({ client_id }) => client_id)).toEqual(clients.map(({ clientId }) => clientId));
    expect(data.map(({ metadata }) => metadata)).toEqual([
      much,
      much,
      ...Array.from({ length: 97 }, () => ({})),
      { surface: "last" },
    ]);
    expect(JSON.stringify(data).length).toBeLessThan(48 * 1024);
  });
});
