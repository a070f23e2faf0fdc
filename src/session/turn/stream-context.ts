import type { PromptOptions } from "../../domain/prompt.ts";
import type { ToolsState } from "../tools/tools-state.ts";
import type { Invocation } from "./turn-state.ts";

/** What is known when an event of a call's stream comes. */
export interface StreamContext {
  readonly invocation: Invocation;
  readonly tools: ToolsState;
  /** What checking the arguments of a call found. */
  readonly problem: string | undefined;
  /** Of the turn. */
  readonly options: PromptOptions | null;
}
