/* Calls that are unsafe or depend on hidden state do not compile. Included by str.h's users through the build
 * (-include). */
#ifndef INTERLACE_BASE_BANNED_H
#define INTERLACE_BASE_BANNED_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC poison strcpy strcat sprintf vsprintf strncpy strncat strtok gmtime localtime atoi atol ctime asctime

#endif
