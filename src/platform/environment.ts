/** Variables of a process, by name. */
export interface Environment {
  readonly [name: string]: string | undefined;
}
