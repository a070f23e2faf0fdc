import { isObject } from "../../data/json.ts";
import type { SessionUpdate } from "../../host/index.ts";

/** Tracks the other clients of a session: its controller, and their open questions. */
export interface ChatParticipants {
  update(update: SessionUpdate): ControlChange | undefined;
  /** The client id of the controller. Undefined if not reported yet; null without a controller. */
  readonly controller: string | null | undefined;
  /** Actions of open questions other than tool approvals. */
  readonly questions: readonly string[];
}

/** The controller has left, or the session has a controller again. */
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

/** Formats a change of control for an observer. */
export function formatControlChange(change: ControlChange): string {
  return change === "left"
    ? "The controller of this session has left. /takeover takes control."
    : "This session has a controller again.";
}

function readAction(payload: unknown): string {
  const approvalRequest = isObject(payload) ? payload["approval_request"] : undefined;
  const action = isObject(approvalRequest) ? approvalRequest["action"] : undefined;
  return typeof action === "string" ? action : "A question";
}
