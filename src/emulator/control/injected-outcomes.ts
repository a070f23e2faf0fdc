import type { Outcome } from "./harness-state.ts";
import { omitUndefined } from "../../data/omit-undefined.ts";

/** `endpoint` means any change of any endpoint, including the first. */
export type ChangeKind = (typeof CHANGE_KINDS)[number];

export const CHANGE_KINDS = ["create", "update", "delete", "endpoint"] as const;

export interface InjectedOutcome extends Outcome {
  readonly harnessName: string;
  readonly change: ChangeKind;
}

export interface InjectedOutcomes {
  /**
   * Sets the result of the next change of this kind to this harness, once. Any status is allowed, including unknown
   * values.
   */
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
