import { describe, expect, it } from "vitest";
import { findAcpProblems } from "../../../../test/support/acp/acp-schema.ts";
import type { SessionEvent } from "../../../domain/events/session-event.ts";
import { runCodec } from "../../../domain/codec.ts";
import { SESSION_MODES } from "../../../domain/session-mode.ts";
import { decodeRequest } from "./decode-request.ts";
import { encodeOptions, encodeSettings } from "./session-mode-messages.ts";
import { encodeUpdateLine } from "../encode/acp-session-update.ts";
import { createUpdateEncoder } from "../encode/update-encoder.ts";
import type { UpdateOptions } from "../encode/update-state.ts";

function encodeUpdates(
  events: readonly SessionEvent[],
  upTo: number,
  history: UpdateOptions["history"],
) {
  const encoder = createUpdateEncoder({ sessionId: "s", clientId: "me", upTo, history });
  const log = events.map((event, index) => {
    const place = { sessionId: "s", seq: index + 1, at: 0 };
    return { ...place, visibility: "public", event } as const;
  });
  return runCodec(encoder, log).flatMap((one) => (one.type === "update" ? [one.update] : []));
}

describe("Session settings", () => {
  it.each(SESSION_MODES)(
    "The mode %s is sent as a mode and as a config option [ACP-41]",
    (mode) => {
      const { modes, configOptions } = encodeSettings(mode);
      expect(modes.currentModeId).toBe(mode);
      expect(modes.availableModes.map((one) => Object(one).id)).toEqual(SESSION_MODES);
      expect(configOptions).toMatchObject([
        { id: "mode", category: "mode", type: "select", currentValue: mode },
      ]);
      expect(configOptions[0]?.options.map((one) => Object(one).value)).toEqual(SESSION_MODES);
    },
  );

  it("A mode change sends both updates once [ACP-41]", () => {
    const updates = encodeUpdates([{ type: "session.mode_changed", mode: "ask" }], 0, "shown");
    expect(updates).toEqual([
      { sessionUpdate: "current_mode_update", currentModeId: "ask" },
      { sessionUpdate: "config_option_update", ...encodeOptions("ask") },
    ]);
    for (const update of updates) {
      expect(findAcpProblems(JSON.parse(encodeUpdateLine("s", update)))).toEqual([]);
    }
  });

  it.each(["shown", "hidden"] as const)(
    "A mode change before the attach is not sent as an update, because the attach result has the mode (%s)",
    (history) => {
      const mode = "read-only";
      expect(encodeUpdates([{ type: "session.mode_changed", mode }], 1, history)).toEqual([]);
    },
  );
});

describe("session/set_mode and session/set_config_option", () => {
  const sessionId = "s";

  it.each(SESSION_MODES)("Both methods set the session mode %s", (mode) => {
    const command = { type: "set-mode", mode };
    const expectedRequest = { type: "configure", sessionId, command };
    expect(decodeRequest("session/set_mode", { sessionId, modeId: mode })).toEqual({
      ok: true,
      value: { ...expectedRequest, answer: "nothing" },
    });
    const option = { sessionId, configId: "mode", value: mode };
    expect(decodeRequest("session/set_config_option", option)).toEqual({
      ok: true,
      value: { ...expectedRequest, answer: "options" },
    });
  });

  it.each([
    ["session/set_mode", { sessionId, modeId: "yolo" }, '"default", "ask" or "read-only"'],
    ["session/set_mode", { sessionId }, '"default", "ask" or "read-only"'],
    ["session/set_mode", { modeId: "ask" }, "sessionId"],
    [
      "session/set_config_option",
      { sessionId, configId: "model", value: "x" },
      'Configuration option "model" does not exist: expected "mode"',
    ],
    ["session/set_config_option", { sessionId, configId: "mode", value: true }, "read-only"],
    ["session/set_config_option", { sessionId, configId: "mode", value: "x" }, "read-only"],
    ["session/set_config_option", { configId: "mode", value: "ask" }, "sessionId"],
  ])("%s with the params %j is rejected with the valid names", (method, params, named) => {
    const refused = decodeRequest(method, params);
    expect(refused).toMatchObject({
      ok: false,
      error: { code: -32602, message: expect.stringContaining(named) },
    });
  });
});
