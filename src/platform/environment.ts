/** Environment variables by name. Undefined if a variable is not set. */
export interface Environment {
  readonly [name: string]: string | undefined;
}
