/** Environment of a process that shares nothing else with its parent: it still finds the sources compiled. */
const folder = process.env.NODE_COMPILE_CACHE;

export const compileCache: Readonly<Record<string, string>> =
  folder === undefined ? {} : { NODE_COMPILE_CACHE: folder };
