/** Names that every JavaScript object has, such as `constructor`: they cannot name a node, a variable, a channel or an input. */
export const isReservedName = (name: string): boolean => name in {};
