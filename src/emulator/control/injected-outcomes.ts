import type { Outcome } from "./harness-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** `endpoint` is any change of any endpoint, the first included. */
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const CHANGE_KINDS = ["create", "update", "delete", "endpoint"] as const;

export interface InjectedOutcome extends Outcome {
  readonly harnessName: string;
  readonly change: ChangeKind;
}

export interface InjectedOutcomes {
  /** The next change of that kind to a harness of that name comes to this, once. Any status will do, unknown ones too. */
  inject(outcome: InjectedOutcome): void;
  take(harnessName: string, change: ChangeKind): Outcome | undefined;
}

export function createInjectedOutcomes(): InjectedOutcomes {
  const waiting: InjectedOutcome[] = [];
  return {
    inject: (outcome) => void waiting.push(outcome),
    take(harnessName, change) {
      const at = waiting.findIndex(
        (candidate) => candidate.harnessName === harnessName && candidate.change === change,
      );
      if (at === -1) return undefined;
      const [{ status, failureReason } = { status: "" }] = waiting.splice(at, 1);
      return { status, ...omitUndefined({ failureReason }) };
    },
  };
}
