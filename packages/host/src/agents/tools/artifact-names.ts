/** Names of artifacts, which are paths without surprises. */

export const MAX_ARTIFACT_NAME = 512;

const segment = String.raw`(?!\.{1,2}(?:/|$))[^/\\\p{C}]{1,128}`;

/** Relative, without "..", "\" or control characters. */
export const artifactPath = new RegExp(`^${segment}(?:/${segment}){0,15}$`, 'u');

export const isArtifactName = (name: string): boolean => name.length <= MAX_ARTIFACT_NAME && artifactPath.test(name);
