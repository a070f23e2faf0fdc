import { countMembers, countValues, MAX_REQUEST_MEMBERS, MAX_REQUEST_VALUES } from "./json.ts";

/**
 * Limits the values and members of all JSON strings inside a request, such as the arguments of its tool calls. The
 * limits are those of the body itself, which counts such a string as one value.
 */
export class JsonBudget {
  #values = MAX_REQUEST_VALUES;
  #members = MAX_REQUEST_MEMBERS;

  /** Counts a text before it is parsed. Returns the exceeded limit. Undefined if the text is within the budget. */
  spend(text: string): string | undefined {
    this.#values -= countValues(text, this.#values);
    if (this.#values < 0) return `${MAX_REQUEST_VALUES} values`;
    this.#members -= countMembers(text, this.#members);
    return this.#members < 0 ? `${MAX_REQUEST_MEMBERS} members` : undefined;
  }
}
