/** Puts the hint of a host in words of the command line: hosts name requests, and a person types commands. */
import type { CairnError } from '@cairn/protocol';

type Details = CairnError['details'];

/** A part of a hint, and the command that does the same. Longer ones first. */
const commands: readonly (readonly [part: RegExp, command: (details: Details) => string])[] = [
  [/GET \/v1\/workflows\/\{workflowId\}/g, (details) => `"cairn workflows ${idIn(details, 'workflowId', 'WORKFLOW')}"`],
  [/POST \/v1\/workflows/g, () => '"cairn workflows --add FILE"'],
  [/GET \/v1\/workflows/g, () => '"cairn workflows"'],
  [/GET \/v1\/node-types/g, () => '"cairn nodes TYPE"'],
  [/GET \/v1\/agents/g, () => '"cairn agents"'],
  [/GET \/v1\/tools/g, () => '"cairn tools"'],
  [/GET \/v1\/host\/cairn\/packs/g, () => '"cairn pack list"'],
  [/GET \/v1\/host\/cairn\/inbox/g, () => '"cairn inbox"'],
  [/GET \/v1\/runs\/\{runId\}/g, showRun],
  [/GET \/v1\/runs\b/g, () => '"cairn runs"'],
  [/\bread the run to see (\w+ it \w+(?: for)?)/gi, (details) => `${showRun(details)} shows $1`],
  [/Its data and resumeSchema say what an answer looks like/g, (details) => `${showRun(details)} shows the question`],
  [/ GET \/v1\/host\/cairn\/limits shows the limits\./g, () => ''],
  [/Wait for the time in Retry-After, then send the request again/g, () => 'Wait a moment, then repeat the command'],
];

export function commandHint(hint: string, details: Details): string {
  return commands.reduce((text, [part, command]) => text.replace(part, command(details)), hint);
}

function showRun(details: Details): string {
  return `"cairn show ${idIn(details, 'runId', 'RUN')}"`;
}

/** An id that the error names. Only a well-formed one becomes part of a command that a person may copy. */
function idIn(details: Details, name: string, placeholder: string): string {
  const id = details?.[name];
  return typeof id === 'string' && /^[A-Za-z0-9][\w.:-]{0,127}$/.test(id) ? id : placeholder;
}
