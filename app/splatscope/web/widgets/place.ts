// Where a compiler's message is about, in words.

/** A message as it is spoken: "kernel.slang:7:14: undefined identifier" begins with "Line 7, column 14 of kernel.slang". */
export const placeInWords = (message: string) => message.replace(/^(\S+):(\d+):(\d+): /, "Line $2, column $3 of $1: ")
