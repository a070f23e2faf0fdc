import type { Target } from "./target.ts";

/** One test of the public compliance suite, rewritten here. Throws if the server does not comply. */
export interface ComplianceTest {
  readonly id: string;
  readonly run: (target: Target) => Promise<void>;
}

export const user = (content: unknown) => ({ type: "message", role: "user", content });

export const assistant = (content: string, phase?: string) => ({
  type: "message",
  role: "assistant",
  content,
  ...(phase !== undefined && { phase }),
});

export const COMPACTABLE = {
  prompt_cache_key: "compliance",
  input: [user("My name is Alice."), assistant("Hello Alice.")],
};
