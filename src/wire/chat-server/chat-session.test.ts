import { describe, expect, it } from "vitest";
import { formatCallId } from "../responses/response-ids.ts";
import { readChatRequest } from "./chat-request.ts";
import { resolveChatSession } from "./chat-session.ts";

const [ONE, OTHER] = ["a", "b"].map((letter) => `ses_${letter.repeat(32)}`) as [string, string];
const HI = { role: "user", content: "Hi" };

function calling(sessionId: string) {
  const call = {
    id: formatCallId(sessionId, "tool_1"),
    type: "function",
    function: { name: "look" },
  };
  return { role: "assistant", content: null, tool_calls: [call] };
}

function named(body: object, value?: string) {
  const header = value === undefined ? undefined : { name: "x-spanline-session", value };
  return resolveChatSession(readChatRequest({ messages: [HI], ...body }), header);
}

describe("The session of a chat request", () => {
  it("A request without a session id names no session", () => {
    expect(named({})).toBeNull();
  });

  it("A header names a session like a field [OR-32]", () => {
    const session = { sessionId: ONE, isImplied: false };
    expect(named({}, ONE)).toEqual({ ...session, param: "x-spanline-session" });
    expect(named({ session_id: ONE })).toEqual({ ...session, param: "session_id" });
    expect(() => named({ session_id: ONE }, OTHER)).toThrow("name different sessions");
    expect(() => named({}, "short")).toThrow("x-spanline-session is not a valid session id");
  });

  it("The newest tool call implies the session; earlier sessions may be deleted [OR-32]", () => {
    const messages = [HI, calling(ONE), HI, calling(OTHER), HI];
    const param = "messages[3]";
    expect(named({ messages })).toEqual({ sessionId: OTHER, param, isImplied: true });
    expect(named({ messages, session_id: OTHER })).toMatchObject({ isImplied: false });
    expect(() => named({ messages, session_id: ONE })).toThrow("name different sessions");
  });

  it("Shorter session ids generated for other surfaces are accepted", () => {
    const sessionId = `ses_${"0".repeat(26)}`;
    const session = { sessionId, param: "session_id", isImplied: false };
    expect(named({ session_id: sessionId })).toEqual(session);
  });
});
