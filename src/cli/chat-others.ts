import { isObject } from "../domain/json.ts";
import type { SeenUpdate } from "../host/index.ts";

/** What a chat knows of the others in its session: who controls it, and what they are asked. */
export interface ChatOthers {
  told(update: SeenUpdate): OthersChange | undefined;
  /** Undefined where nobody said it yet, null where nobody controls. */
  readonly controller: string | null | undefined;
  /** Questions that wait for an answer and are not about a tool's start, each by what it is about. */
  readonly questions: readonly string[];
}

/** Whoever controlled has left, or somebody controls again after that. */
export type OthersChange = "left" | "controlled";

export function chatOthers(): ChatOthers {
  let controller: string | null | undefined;
  const questions = new Map<string, string>();

  function control(state: unknown): OthersChange | undefined {
    const next = isObject(state) ? state["active_controller_id"] : undefined;
    if (next !== null && typeof next !== "string") return undefined;
    const before = controller;
    controller = next;
    if (next === null) return typeof before === "string" ? "left" : undefined;
    return before === null ? "controlled" : undefined;
  }

  return {
    told(update) {
      if (update.type === "info" && update.turn !== undefined) questions.clear();
      if (update.type !== "extension") return undefined;
      const { requestId, payload, state } = update.fields;
      switch (update.name) {
        case "live_session_client":
          return control(state);
        case "hitl_request":
          if (typeof requestId === "string") questions.set(requestId, actionOf(payload));
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
export function othersNote(change: OthersChange): string {
  return change === "left"
    ? "Whoever controlled this session has left. /takeover takes control."
    : "Somebody controls this session again.";
}

function actionOf(payload: unknown): string {
  const asked = isObject(payload) ? payload["approval_request"] : undefined;
  const action = isObject(asked) ? asked["action"] : undefined;
  return typeof action === "string" ? action : "A question";
}
