/** A sandbox that was tried on this machine and holds. `findSandbox` makes it. */
export interface Sandbox {
  readonly type: "bubblewrap";
  /** Its absolute path. */
  readonly program: string;
  /** Whether programs in it reach the network. */
  readonly network: boolean;
}
