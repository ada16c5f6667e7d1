package first

import (
	"fmt"
	"net/http/httptest"
	"strings"
)

func Example_lab() {
	ask := httptest.NewRequest("POST", "http://localhost/api/fresh", strings.NewReader(`{"algorithm": "baton", "processes": 3}`))
	ask.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	Lab().ServeHTTP(answer, ask)
	fmt.Println(answer.Code, strings.Contains(answer.Body.String(), "algorithm baton"))
	// Output:
	// 200 true
}
