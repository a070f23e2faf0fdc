/** Notes for whoever runs the program: what was passed over, and why something was denied. */
export type Report = (message: string, facts: { readonly [name: string]: unknown }) => void;

export function ignoreReport(): void {}
