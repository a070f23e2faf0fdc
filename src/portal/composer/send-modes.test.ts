import { describe, expect, it } from "vitest";
import type { LiveClient } from "../../domain/live-client.ts";
import { findRightRefusal, findSendRefusal, listSendModes, resolveSendMode } from "./send-modes.ts";

const editor = createClient("editor", { role: "controller", mayPrompt: true });
const page = createClient("page", {});
const participant = {
  rights: ["prompt"],
  isConnected: true,
  clientId: "page",
  principal: "ada",
} as const;

function createClient(clientId: string, fields: Partial<LiveClient>): LiveClient {
  const name = clientId === "page" ? "Firefox on Linux" : "acpx";
  const times = { attachedAt: 1, lastSeenAt: 1 };
  const rights = { mayPrompt: false, mayApprove: false };
  return { clientId, role: "observer", name, ...times, ...rights, metadata: {}, ...fields };
}

describe("The modes of sending", () => {
  it("A running turn is steered by default; an idle session gets a prompt", () => {
    expect(listSendModes(true)).toEqual(["steer", "queue", "remind"]);
    expect(listSendModes(false)).toEqual(["send", "remind"]);
  });

  it("A chosen mode that no longer applies falls back to the default", () => {
    expect(resolveSendMode("queue", true)).toBe("queue");
    expect(resolveSendMode("queue", false)).toBe("send");
    expect(resolveSendMode(null, true)).toBe("steer");
  });
});

describe("Why a page cannot send", () => {
  const session = { clients: [editor, page], controller: "editor" };

  it("An observer sees the controller's name and can take control", () => {
    expect(findSendRefusal(session, participant)).toEqual({
      text: "acpx controls this session; you are observing",
      needsControl: true,
    });
  });

  it("A session without a controller, or with this page as controller, can be prompted", () => {
    expect(findSendRefusal({ ...session, controller: null }, participant)).toBeUndefined();
    expect(findSendRefusal({ ...session, controller: "page" }, participant)).toBeUndefined();
  });

  it("An observer that may prompt can send", () => {
    const clients = [editor, { ...page, mayPrompt: true }];
    expect(findSendRefusal({ clients, controller: "editor" }, participant)).toBeUndefined();
  });

  it("A page that is not attached is not an observer", () => {
    expect(findSendRefusal(session, { ...participant, clientId: null })).toBeUndefined();
  });

  it("A missing right is reported before all other reasons", () => {
    const text = "Your key does not have the right to prompt";
    expect(findSendRefusal(session, { ...participant, rights: [], isConnected: false })).toEqual({
      text,
      needsControl: false,
    });
    expect(findRightRefusal("prompt", { ...participant, rights: [] })).toBe(text);
  });

  it("A disconnected page shows that the text is kept", () => {
    const offline = { ...participant, isConnected: false };
    expect(findSendRefusal({ clients: [], controller: null }, offline)?.text).toContain("kept");
    expect(findRightRefusal("prompt", offline)).toBe("The portal is disconnected");
    expect(findRightRefusal("prompt", participant)).toBeUndefined();
  });
});
