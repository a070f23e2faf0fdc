import { queryModel } from "../../aigo/query-model.ts";
import type { RunnableAgent } from "../../bridge/agent/start-demo-run.ts";
import { convertUserInput, type ChatCompletionMessage } from "../../wire/aigo/model-input.ts";
import { convertModelOutput } from "../../wire/aigo/model-output.ts";

/** One step of a test: a new stage, a value to print, or the failure of the test. */
export type TestStep =
  | { readonly type: "stage"; readonly title: string }
  | { readonly type: "shown"; readonly name: string; readonly value: unknown }
  | { readonly type: "failed"; readonly message: string; readonly nextStep: string };

export interface TestedAgent extends Pick<RunnableAgent["agent"], "provider"> {
  readonly signal: AbortSignal;
}

/** Runs two turns in a session and yields each step. Throws errors of the agent's connection. */
export async function* runTestStages(
  agent: TestedAgent,
): AsyncGenerator<TestStep, void, undefined> {
  const messages: ChatCompletionMessage[] = [{ role: "user", content: HELLO }];
  yield { type: "stage", title: "Sending one turn." };
  yield { type: "shown", name: "request", value: { messages: [...messages] } };
  const first = yield* runTestTurn(messages, agent);
  if (first === undefined) return;
  messages.push(first, { role: "user", content: RECALL });
  yield { type: "stage", title: "Sending a second turn, in the same session." };
  yield { type: "shown", name: "request", value: { messages: [...messages] } };
  const second = yield* runTestTurn(messages, agent);
  if (second === undefined || second.session_id === first.session_id) return;
  yield createFailedStep(
    "The second turn was answered in a different session than the first",
    "Fix: check that the agent keeps its session_id between invocations.",
  );
}

const HELLO = "Hello!";
const RECALL = "Please repeat my first message.";

interface Reply extends ChatCompletionMessage {
  readonly session_id: string;
}

async function* runTestTurn(
  messages: readonly ChatCompletionMessage[],
  { provider, signal }: TestedAgent,
): AsyncGenerator<TestStep, Reply | undefined, undefined> {
  yield { type: "stage", title: "Converting the input." };
  const input = convertUserInput({ messages }, { keepsHistory: provider.keepsHistory ?? true });
  yield { type: "shown", name: "input", value: input };
  yield { type: "stage", title: "Running inference." };
  const raw = await queryModel(input, {}, { provider, signal });
  const output = convertModelOutput(raw);
  const message = output.items.findLast((item) => item.type === "message");
  yield { type: "shown", name: "status", value: message?.status ?? "no message" };
  yield { type: "stage", title: "Transforming the output." };
  yield { type: "shown", name: "output", value: output };
  if (message?.role !== "assistant" || message.error !== undefined) {
    const reason = message?.error?.message ?? "The response has no assistant message";
    return yield createFailedStep(
      `The turn failed: ${reason}`,
      "Fix: run `spanline invoke` to see the whole response.",
    );
  }
  const text = message.content.map((part) => part.text).join("\n");
  yield { type: "shown", name: "reply", value: text };
  yield { type: "shown", name: "session_id", value: message.session_id };
  if (text === "") {
    const next = "Fix: if the agent waits for client tools, use `spanline run`.";
    return yield createFailedStep("The agent returned no text", next);
  }
  return { role: "assistant", content: text, session_id: message.session_id };
}

function createFailedStep(message: string, nextStep: string): TestStep {
  return { type: "failed", message, nextStep };
}
