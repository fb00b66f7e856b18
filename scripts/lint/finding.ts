/** A broken rule, as reported by a check. All checks share this shape so that one report can show them. */
export interface Finding {
  /** Path from the root of the checked tree. Absent when the finding is about the whole tree. */
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
}

export function render(finding: Finding): string {
  if (finding.file === undefined) return finding.message;
  const place = finding.line === undefined ? finding.file : `${finding.file}:${finding.line}`;
  return `${place}  ${finding.message}`;
}
