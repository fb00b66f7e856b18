/** What a check says when a rule is broken; all checks speak this one shape so that one report shows them. */
export interface Finding {
  /** From the root of the tree that was checked; left out when the finding is about the tree as a whole. */
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
}

export function render(finding: Finding): string {
  if (finding.file === undefined) return finding.message;
  const place = finding.line === undefined ? finding.file : `${finding.file}:${finding.line}`;
  return `${place}  ${finding.message}`;
}
