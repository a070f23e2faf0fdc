import { formatValue } from "../../text/format-value.ts";

/** Why an artifact is not valid, for the model. Thrown and caught in this folder only. */
export class ArtifactProblem extends Error {
  static expected(name: string, value: unknown, expected: string): ArtifactProblem {
    return new ArtifactProblem(`${name} is ${formatValue(value)}: expected ${expected}`);
  }
}
