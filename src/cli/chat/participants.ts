import { isObject } from "../../data/json.ts";
import type { SessionUpdate } from "../../host/index.ts";

/** What a chat knows of the others in its session: who controls it, and what they are asked. */
export interface ChatParticipants {
  update(update: SessionUpdate): ControlChange | undefined;
  /** Undefined where nobody said it yet, null where nobody controls. */
  readonly controller: string | null | undefined;
  /** Questions that wait for an answer and are not about a tool's start, each by what it is about. */
  readonly questions: readonly string[];
}

/** Whoever controlled has left, or somebody controls again after that. */
export type ControlChange = "left" | "controlled";

export function createChatParticipants(): ChatParticipants {
  let controller: string | null | undefined;
  const questions = new Map<string, string>();

  function control(state: unknown): ControlChange | undefined {
    const next = isObject(state) ? state["active_controller_id"] : undefined;
    if (next !== null && typeof next !== "string") return undefined;
    const previous = controller;
    controller = next;
    if (next === null) return typeof previous === "string" ? "left" : undefined;
    return previous === null ? "controlled" : undefined;
  }

  return {
    update(update) {
      if (update.type === "info" && update.turn !== undefined) questions.clear();
      if (update.type !== "extension") return undefined;
      const { requestId, payload, state } = update.fields;
      switch (update.name) {
        case "live_session_client":
          return control(state);
        case "hitl_request":
          if (typeof requestId === "string") questions.set(requestId, readAction(payload));
          return undefined;
        case "hitl_resolved":
          if (typeof requestId === "string") questions.delete(requestId);
          return undefined;
        default:
          return undefined;
      }
    },
    get controller() {
      return controller;
    },
    get questions() {
      return [...questions.values()];
    },
  };
}

/** For whoever watches. */
export function formatControlChange(change: ControlChange): string {
  return change === "left"
    ? "Whoever controlled this session has left. /takeover takes control."
    : "Somebody controls this session again.";
}

function readAction(payload: unknown): string {
  const approvalRequest = isObject(payload) ? payload["approval_request"] : undefined;
  const action = isObject(approvalRequest) ? approvalRequest["action"] : undefined;
  return typeof action === "string" ? action : "A question";
}
