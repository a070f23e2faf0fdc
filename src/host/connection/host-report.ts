/** Receives notes for the operator: ignored messages, denied permissions and failures. */
export type Report = (message: string, facts: { readonly [name: string]: unknown }) => void;

export function ignoreReport(): void {}
