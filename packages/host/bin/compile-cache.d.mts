/** The private folder of the compile cache; null when there is none to trust. */
export function compileCacheFolder(env?: NodeJS.ProcessEnv, home?: string): string | null;
